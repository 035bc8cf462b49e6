// Adds up rows of several embeddings ("tables"), such as words, positions and segments of texts.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace lockstep {

struct Lookup {
  at::Tensor rows;   // i64 [N], each from 0 to V - 1
  at::Tensor table;  // [V, D]
};

// Returns the sum of table[rows] over one to three `lookups`, [N, D], added up in the given order.
// All tables have the same dtype and width. Rows outside of a table throw Error on the CPU, and
// fail a device-side assertion on GPUs.
//
// The result is differentiable in the tables, and second derivatives use ATen's operators. If a
// table has a gradient buffer (gradient_buffer.h), its gradient is added there row by row, so no
// tensor of the table's size is made. GPUs add these rows up in no fixed order, unless ATen is set
// to be deterministic.
at::Tensor embedding_sum(const std::vector<Lookup>& lookups);

}  // namespace lockstep
