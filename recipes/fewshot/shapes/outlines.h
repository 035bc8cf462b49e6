// The outlines of the made shapes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/media/pictures/draw.h"

namespace lockstep::fewshot {

// Contours around (0, 0) that reach 1 at most from it; one within another is a hole.
struct Outline {
  std::string name;
  std::vector<std::vector<Point>> contours;
};

// In the order of made_categories().
std::span<const Outline> outlines();

// The contours turned by an angle (in radians), scaled by a radius in pixels and moved to a centre.
std::vector<std::vector<Point>> placed(const Outline& outline, Point centre, double radius,
                                       double angle);
Rectangle bounds_of(std::span<const std::vector<Point>> contours);

}  // namespace lockstep::fewshot
