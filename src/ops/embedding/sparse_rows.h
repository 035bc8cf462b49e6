// The gradient of a sparse parameter (a "table", for example an embedding) for only the rows that a
// step used.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

struct SparseRows {
  at::Tensor rows;      // i64 [N], contiguous, each from 0 to V - 1; repetitions are allowed
  at::Tensor gradient;  // [N, D], contiguous
  // i64 [N]: places in `rows`, sorted so that those of each row are together and ascending
  // (rows_by_token). The gradients of a row are then added up in this order. Undefined: in any
  // order.
  at::Tensor order;
};

// Says which pieces of a flat buffer are dirty. A piece is dirty if something was ever added to it.
// The table is a part of that buffer.
struct DirtyRange {
  at::Tensor flags;        // u8, one per dirty_piece elements, 1: dirty; undefined: not tracked
  std::int64_t begin = 0;  // where the table begins, in elements of the flat buffer
};

// Adds gradient[n] to row rows[n] of `buffer`, f32 [V, D], contiguous, and marks these pieces in
// `dirty`. On GPUs, rows without SparseRows::order are added in no fixed order, unless ATen was
// told to be deterministic.
void add_sparse_rows(const at::Tensor& buffer, const SparseRows& rows, const DirtyRange& dirty);

// Whether rows with an order are added to such a buffer in that order.
bool rows_keep_an_order(const at::Tensor& buffer);

}  // namespace lockstep
