// The largest numbers of each row, as a detector takes its best proposals.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

struct TopRows {
  at::Tensor values;  // f32 [Q, K], downwards
  at::Tensor index;   // i64 [Q, K]: where they are in their rows
};

// The `count` largest elements of each row of x, as at::topk. x: floating, [Q, ...], rows
// flattened. NaN counts as larger than all. On GPUs a kernel of ours takes rows of up to 32,768
// elements, and up to 1,024 of each. It reads x where it lies (also some channels of a
// channels-last map), prefers the first of equal elements, and takes -0 as 0. No gradient. Throws
// Error for other types, and where rows have fewer.
TopRows top_rows(const at::Tensor& x, std::int64_t count);

using TopRowsKernel = void (*)(const TopRowsArguments&);  // on the current stream
void register_cuda_top_rows(TopRowsKernel kernel);

}  // namespace lockstep
