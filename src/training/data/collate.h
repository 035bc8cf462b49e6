// Functions for Dataset::collate that build the tensors (fields) of a batch from rows of different
// lengths.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

// Returns tensor number `field` of each row. rows: the argument of Dataset::collate.
std::vector<at::Tensor> column(const std::vector<std::vector<at::Tensor>>& rows, std::size_t field);

// Pads rows to one length. Returns [B, n, …] with `fill` after each row's own values. Row i has
// length n_i. If `lengths` is empty, n is the largest n_i. Else n is the smallest of `lengths` that
// is at least the largest n_i. Few different lengths allow the engine to capture the steps of each
// length as a CUDA graph. Throws Error if a row is longer than all lengths, or if rows differ in a
// size other than n_i or in dtype.
//   rows: at least one tensor, each [n_i, …] on the CPU
//   lengths: ascending, or empty
at::Tensor pad(const std::vector<at::Tensor>& rows, double fill = 0,
               const std::vector<std::int64_t>& lengths = {});

// Returns the length n_i of each row, i64 [B].
at::Tensor lengths_of(const std::vector<at::Tensor>& rows);

// Rows of different lengths, concatenated without padding.
struct Ragged {
  at::Tensor values;   // [sum of n_i, …]
  at::Tensor offsets;  // i64 [B + 1]: row i is values [offsets[i], offsets[i + 1])
};
// Concatenates rows. rows: as for `pad`; a row may be empty.
Ragged ragged(const std::vector<at::Tensor>& rows);

// Returns the row number of each value, i64 [values] on the device of `offsets`. Does not
// synchronise the device. For example, row_weight.index_select(0, row_of_values(…)) gives each
// value its weight, which is 0 in padding rows.
//   offsets: Ragged::offsets
//   values: the number of values in all rows
at::Tensor row_of_values(const at::Tensor& offsets, std::int64_t values);

}  // namespace lockstep
