// Small volumes for the tests, drawn as text or by a rule.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "recipes/volume/metrics/mask.h"

namespace lockstep::volume {

using Rule = std::function<bool(std::int64_t, std::int64_t, std::int64_t)>;

inline Mask draw(const Shape& shape, const Rule& rule) {
  Mask mask(shape);
  for (std::int64_t z = 0; z < shape[0]; ++z)
    for (std::int64_t y = 0; y < shape[1]; ++y)
      for (std::int64_t x = 0; x < shape[2]; ++x)
        if (rule(z, y, x)) mask.set(z, y, x);
  return mask;
}

// A box [from, to) along every axis.
inline Mask box(const Shape& shape, std::int64_t from, std::int64_t to) {
  const auto in = [=](std::int64_t i) { return i >= from && i < to; };
  return draw(shape, [=](std::int64_t z, std::int64_t y, std::int64_t x) {
    return in(z) && in(y) && in(x);
  });
}

inline Mask random_mask(const Shape& shape, double share, unsigned seed) {
  std::mt19937 generator(seed);
  return draw(shape, [&](std::int64_t, std::int64_t, std::int64_t) {
    return generator() < share * 4294967296.0;
  });
}

// Volumes of awkward sizes and several shares of foreground; widths on both sides of a word.
inline std::vector<Mask> random_masks() {
  std::vector<Mask> masks;
  unsigned seed = 1;
  for (const Shape& shape : std::vector<Shape>{{1, 1, 1},
                                               {3, 1, 5},
                                               {2, 7, 1},
                                               {4, 5, 6},
                                               {7, 6, 9},
                                               {3, 4, 64},
                                               {3, 3, 65},
                                               {2, 3, 130}})
    for (const double share : {0.05, 0.3, 0.6, 0.9})
      masks.push_back(random_mask(shape, share, seed++));
  return masks;
}

}  // namespace lockstep::volume
