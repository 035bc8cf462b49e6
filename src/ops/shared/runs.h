// Lets kernels read some tensors without a copy, although they are not contiguous. The tensors must
// consist of runs of adjacent elements, which are equally long and equally far apart. One example
// is a range of channels of a channels-last feature map.
#pragma once

#include "ops/shared/detection_arguments.h"
#include "ops/shared/own_kernels.h"

#include <ATen/core/Tensor.h>

#include <limits>

namespace lockstep {

struct InRuns {
  at::Tensor tensor;  // the given tensor or a contiguous copy
  Runs runs;
};

// Returns the runs of `tensor` in the order of its elements. The length of a run is a multiple of
// `group`. If `tensor` has no such runs, it is first copied to a contiguous tensor. numel must be
// below 2^31.
inline InRuns in_runs(const at::Tensor& tensor, std::int64_t group = 1) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  // count is the number of runs. It is 0 while the dimensions are within one run.
  std::int64_t length = 1, step = 0, count = 0;
  bool regular = true;
  for (std::int64_t d = tensor.dim() - 1; d >= 0 && regular; --d) {
    const std::int64_t size = tensor.size(d), stride = tensor.stride(d);
    if (size == 1) continue;
    if (count == 0 && stride == length) {
      length *= size;
    } else if (count == 0) {
      step = stride;
      count = size;
    } else {
      regular = stride == step * count;
      count *= size;
    }
  }
  if (count == 0) step = length;
  if (regular && length % group == 0 && step > 0 && step * count <= most && length <= most)
    return {tensor, {static_cast<std::uint32_t>(length), static_cast<std::uint32_t>(step)}};
  const at::Tensor dense = tensor.contiguous();
  const auto all = static_cast<std::uint32_t>(dense.numel());
  return {dense, {all, all}};
}

}  // namespace lockstep
