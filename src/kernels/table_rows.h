// The gradient of a table of which a step used few rows, as these rows.
#pragma once

#include "kernels/kernel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

struct TableRows {
  at::Tensor rows;      // i64 [N], contiguous, each from 0 to V - 1; one may be there many times
  at::Tensor gradient;  // [N, D], contiguous
  // i64 [N]: places in `rows`, those of one row together and ascending (rows_by_token). Then what
  // is added to a row is added up in this order. Undefined: in any.
  at::Tensor order;
};

// What was ever added to in a flat buffer of which a table is a part.
struct TouchedPieces {
  at::Tensor flags;        // u8, one per touched_piece elements; undefined: nobody asks
  std::int64_t begin = 0;  // of the table, in elements of the flat buffer
};

// buffer f32 [V, D], contiguous: row rows[n] of it += gradient[n], and `touched` becomes 1 there.
// On GPUs without an order in no fixed one, unless ATen was told to be deterministic.
void add_table_rows(const at::Tensor& buffer, const TableRows& rows, const TouchedPieces& touched);

// Whether that is so for rows of such a buffer with an order.
bool rows_keep_an_order(const at::Tensor& buffer);

}  // namespace lockstep
