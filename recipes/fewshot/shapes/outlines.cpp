#include "recipes/fewshot/shapes/outlines.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace lockstep::fewshot {
namespace {

using Contour = std::vector<Point>;
constexpr double pi = std::numbers::pi;
constexpr int round_points = 36;

// Points on a circle from one angle to another. A full circle does not repeat its first point.
Contour arc(double radius, double from, double to, Point centre = {}) {
  Contour points;
  const bool whole = to - from > 2 * pi - 1e-9;
  const int steps = whole ? round_points : round_points / 2;
  for (int i = 0; i < (whole ? steps : steps + 1); ++i) {
    const double angle = from + (to - from) * i / steps;
    points.push_back({centre.x + radius * std::cos(angle), centre.y + radius * std::sin(angle)});
  }
  return points;
}
Contour circle(double radius) { return arc(radius, 0, 2 * pi); }
Contour square(double half) { return {{-half, -half}, {half, -half}, {half, half}, {-half, half}}; }

Contour star() {
  Contour points;
  for (int i = 0; i < 10; ++i) {
    const double radius = i % 2 == 0 ? 0.99 : 0.42, angle = pi * i / 5 - pi / 2;
    points.push_back({radius * std::cos(angle), radius * std::sin(angle)});
  }
  return points;
}

Contour cross() {
  constexpr double a = 0.3, b = 0.95;
  return {{-a, -b}, {a, -b}, {a, -a}, {b, -a}, {b, a},   {a, a},
          {a, b},   {-a, b}, {-a, a}, {-b, a}, {-b, -a}, {-a, -a}};
}

// The outer arc of one circle, and back along another circle that is further to the right.
Contour crescent() {
  Contour points = arc(0.99, 0.2 * pi, 1.8 * pi);
  const Contour back = arc(0.72, 0.268 * pi, 1.732 * pi, {.x = 0.33, .y = 0});
  points.insert(points.end(), back.rbegin(), back.rend());
  return points;
}

Contour heart() {
  Contour points;
  for (int i = 0; i < round_points; ++i) {
    const double t = 2 * pi * i / round_points, sine = std::sin(t);
    points.push_back(
        {16 * sine * sine * sine / 17,
         -(13 * std::cos(t) - 5 * std::cos(2 * t) - 2 * std::cos(3 * t) - std::cos(4 * t)) / 17});
  }
  return points;
}

Contour arrow() {
  return {{0, -1},       {0.7, -0.15},   {0.27, -0.15}, {0.27, 0.95},
          {-0.27, 0.95}, {-0.27, -0.15}, {-0.7, -0.15}};
}

Contour bolt() {
  return {{0.3, -0.95}, {-0.55, 0.15}, {-0.08, 0.15}, {-0.3, 0.95}, {0.55, -0.2}, {0.08, -0.2}};
}

std::vector<Outline> make_outlines() {
  const Contour half_circle = arc(0.92, 0, pi, {.x = 0, .y = -0.37});
  return {{"circle", {circle(0.9)}},
          {"square", {square(0.7)}},
          {"triangle", {{{0, -0.98}, {0.85, 0.49}, {-0.85, 0.49}}}},
          {"star", {star()}},
          {"cross", {cross()}},
          {"ring", {circle(0.95), circle(0.55)}},
          {"crescent", {crescent()}},
          {"arrow", {arrow()}},
          {"heart", {heart()}},
          {"half-circle", {half_circle}},
          {"frame", {square(0.7), square(0.4)}},
          {"bolt", {bolt()}}};
}

}  // namespace

std::span<const Outline> outlines() {
  static const std::vector<Outline> all = make_outlines();
  return all;
}

std::vector<Contour> placed(const Outline& outline, Point centre, double radius, double angle) {
  std::vector<Contour> contours = outline.contours;
  const double cosine = radius * std::cos(angle), sine = radius * std::sin(angle);
  for (Contour& contour : contours)
    for (Point& point : contour)
      point = {centre.x + cosine * point.x - sine * point.y,
               centre.y + sine * point.x + cosine * point.y};
  return contours;
}

Rectangle bounds_of(std::span<const Contour> contours) {
  constexpr double far = std::numeric_limits<double>::infinity();
  Rectangle bounds{.left = far, .top = far, .right = -far, .bottom = -far};
  for (const Contour& contour : contours)
    for (const Point& point : contour) {
      bounds.left = std::min(bounds.left, point.x);
      bounds.top = std::min(bounds.top, point.y);
      bounds.right = std::max(bounds.right, point.x);
      bounds.bottom = std::max(bounds.bottom, point.y);
    }
  return bounds;
}

}  // namespace lockstep::fewshot
