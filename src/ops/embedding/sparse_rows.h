// The gradient of a sparse parameter (a "table", as an embedding), as the rows that a step used.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

struct SparseRows {
  at::Tensor rows;      // i64 [N], contiguous, each from 0 to V - 1; one may be there many times
  at::Tensor gradient;  // [N, D], contiguous
  // i64 [N]: places in `rows`, those of one row together and ascending (rows_by_token). Then what
  // is added to a row is added up in this order. Undefined: in any.
  at::Tensor order;
};

// Which pieces of a flat buffer are dirty: something was ever added to them. The table is a part of
// that buffer.
struct DirtyRange {
  at::Tensor flags;        // u8, one per dirty_piece elements, 1: dirty; undefined: not tracked
  std::int64_t begin = 0;  // of the table, in elements of the flat buffer
};

// buffer f32 [V, D], contiguous: row rows[n] of it += gradient[n], and `dirty` becomes 1 there.
// On GPUs, rows without SparseRows::order are added in no fixed order, unless ATen was told to be
// deterministic.
void add_sparse_rows(const at::Tensor& buffer, const SparseRows& rows, const DirtyRange& dirty);

// Whether rows that have an order are added to such a buffer in that order.
bool rows_keep_an_order(const at::Tensor& buffer);

}  // namespace lockstep
