// Finds the largest numbers of each row. Detectors choose their best proposals with this function.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

struct TopRows {
  at::Tensor values;  // f32 [Q, K], descending
  at::Tensor index;   // i64 [Q, K]: index in the row
};

// Returns the `count` largest elements of each row of x, as at::topk. x is floating, [Q, ...], and
// all its dimensions but the first are flattened. NaN is larger than all numbers. The result has no
// gradient. Throws Error for other dtypes, and if rows have fewer than `count` elements.
//
// On GPUs our kernel supports rows of up to 32,768 elements and a `count` of up to 1,024. The
// kernel reads x in place, even if x is some channels of a channels-last feature map. Equal
// elements keep the order of their indices, and -0 equals 0.
TopRows top_rows(const at::Tensor& x, std::int64_t count);

using TopRowsKernel = void (*)(const TopRowsArguments&);  // runs on the current stream
void register_cuda_top_rows(TopRowsKernel kernel);

}  // namespace lockstep
