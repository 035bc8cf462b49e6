// Pairs of tensors whose channels are put together, and windows of which the largest is taken, for
// the tests on the CPU and on GPUs.
#pragma once

#include "fakes/fused_cases.h"
#include "fakes/spatial_cases.h"
#include "ops/channels_last/channels_last.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/masked_fill.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/sin.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace lockstep::testing {

struct CatCase {
  std::int64_t a = 0, b = 0;  // channels
  std::vector<std::int64_t> spatial;
  std::int64_t rows = 2;
};

// Words of every width, in two and three dimensions; more than a block has.
inline std::vector<CatCase> cat_cases() {
  return {{16, 16, {5, 7, 9}}, {8, 24, {6, 5}},    {3, 5, {4, 6, 2}},
          {1, 1, {7, 5}},      {12, 4, {3, 4}},    {2, 6, {3, 5, 4}},
          {32, 8, {1, 1, 3}},  {1, 16, {9, 8, 3}}, {264, 1000, {2, 3}, 1}};
}

inline Tensors cat_leaves(const CatCase& test, at::ScalarType type, bool last,
                          const at::TensorOptions& options = {}) {
  Tensors leaves;
  std::int64_t place = 0;
  for (const std::int64_t channels : {test.a, test.b}) {
    std::vector<std::int64_t> sizes{test.rows, channels};
    sizes.insert(sizes.end(), test.spatial.begin(), test.spatial.end());
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) count *= size;
    at::Tensor leaf =
        at::arange(place, place + count, options).mul(0.37).sin().view(sizes).to(type);
    if (last) leaf = as_channels_last(leaf);
    leaves.push_back(leaf.detach().requires_grad_());
    place += count;
  }
  return leaves;
}

struct WindowCase {
  std::vector<std::int64_t> sizes, window;
  std::string name() const {
    std::string all = "windows of";
    for (const std::int64_t side : window) all += " " + std::to_string(side);
    return all + " over " + std::to_string(sizes[1]) + " channels";
  }
};

// Channels by eights and one by one; extents that windows divide and others; more in a line than a
// block has threads.
inline std::vector<WindowCase> window_cases() {
  return {
      {{2, 16, 4, 6, 8}, {2, 2, 2}},  {{2, 8, 5, 7, 9}, {2, 2, 2}},  {{1, 24, 3, 4, 5}, {1, 2, 2}},
      {{2, 16, 7, 6}, {2, 2}},        {{2, 5, 4, 6, 8}, {2, 2, 2}},  {{2, 1, 5, 3, 4}, {2, 2, 2}},
      {{1, 16, 5, 4, 3}, {2, 1, 1}},  {{2, 8, 2, 3, 17}, {1, 1, 8}}, {{2, 3, 7, 9}, {3, 2}},
      {{1, 40, 9, 8}, {2, 4}},        {{1, 7, 4, 4, 70}, {1, 3, 2}}, {{1, 512, 4, 4, 4}, {2, 2, 2}},
      {{1, 8, 2, 2, 150}, {2, 2, 2}}, {{1, 16, 3, 3, 3}, {3, 2, 1}}};
}

// Values of which many tie, and with `odd` NaN and infinities among them.
inline at::Tensor window_values(const WindowCase& test, at::ScalarType type, bool odd,
                                const at::TensorOptions& options = {}) {
  at::Tensor x = at::randint(-3, 4, test.sizes, options.dtype(at::kFloat));
  if (odd) {
    const at::Tensor draw = at::rand(test.sizes, options);
    const double infinity = std::numeric_limits<double>::infinity();
    x = x.masked_fill(draw.lt(0.1), std::numeric_limits<double>::quiet_NaN());
    x = x.masked_fill(draw.gt(0.6), -infinity).masked_fill(draw.gt(0.95), infinity);
  }
  return as_channels_last(x.to(type)).detach().requires_grad_();
}

inline at::Tensor atens_max_pool(const at::Tensor& x, at::IntArrayRef window) {
  return x.dim() == 4 ? at::max_pool2d(x, window) : at::max_pool3d(x, window);
}

}  // namespace lockstep::testing
