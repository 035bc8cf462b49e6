// The largest numbers of each row. A detector chooses its best proposals with them.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

struct TopRows {
  at::Tensor values;  // f32 [Q, K], descending
  at::Tensor index;   // i64 [Q, K]: their places in their rows
};

// Returns the `count` largest elements of each row of x, as at::topk. x: floating, [Q, ...], with
// rows flattened. NaN counts as larger than all numbers. On GPUs our kernel supports rows of up to
// 32,768 elements, and a `count` of up to 1,024. It reads x in place (also some channels of a
// channels-last map), prefers the first of equal elements, and treats -0 as 0. No gradient. Throws
// Error for other types, and if rows have fewer than `count` elements.
TopRows top_rows(const at::Tensor& x, std::int64_t count);

using TopRowsKernel = void (*)(const TopRowsArguments&);  // runs on the current stream
void register_cuda_top_rows(TopRowsKernel kernel);

}  // namespace lockstep
