// The outlines of the generated shapes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/media/pictures/draw.h"

namespace lockstep::fewshot {

// The contours of a shape around (0, 0). All points are at most 1 away from (0, 0). A contour
// within another contour is a hole.
struct Outline {
  std::string name;
  std::vector<std::vector<Point>> contours;
};

// Returns the outlines in the order of made_categories().
std::span<const Outline> outlines();

// Returns the contours rotated by an angle (in radians), scaled by a radius in pixels and moved to
// a centre.
std::vector<std::vector<Point>> placed(const Outline& outline, Point centre, double radius,
                                       double angle);
Rectangle bounds_of(std::span<const std::vector<Point>> contours);

}  // namespace lockstep::fewshot
