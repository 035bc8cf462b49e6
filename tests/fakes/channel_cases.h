// Pairs of tensors whose channels are put together, for the tests on the CPU and on GPUs.
#pragma once

#include "fakes/fused_cases.h"
#include "fakes/spatial_cases.h"
#include "kernels/channels_last.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/sin.h>

#include <cstdint>
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

}  // namespace lockstep::testing
