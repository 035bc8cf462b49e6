// Describes the gradient of a sparse parameter by only the rows that a step used. A sparse
// parameter is a table, for example an embedding.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

struct SparseRows {
  at::Tensor rows;      // i64 [N], contiguous, each from 0 to V - 1; may repeat
  at::Tensor gradient;  // [N, D], contiguous
  // The result of rows_by_token (embedding.h) for `rows`, i64 [N]. The gradients of a row are then
  // added up in this order. If `order` is undefined, the order of the additions is not fixed.
  at::Tensor order;
};

// The flags of the flat buffer that contains the table's gradient, one flag for each piece of
// dirty_piece elements. A piece is dirty if something was ever added to it. A zero-fill leaves the
// flag set, because Adam's moments may still be nonzero.
struct DirtyRange {
  at::Tensor flags;        // u8 [pieces]: 1 if dirty; undefined if there are no flags
  std::int64_t begin = 0;  // the table's first element in the flat buffer
};

// Adds gradient[n] to row rows[n] of `buffer`, f32 [V, D], contiguous. Sets the flags in `dirty`
// for the pieces of these rows. If SparseRows::order is undefined, GPUs add up rows in no fixed
// order, unless ATen is set to be deterministic.
void add_sparse_rows(const at::Tensor& buffer, const SparseRows& rows, const DirtyRange& dirty);

// Whether add_sparse_rows follows SparseRows::order for this buffer.
bool rows_keep_an_order(const at::Tensor& buffer);

}  // namespace lockstep
