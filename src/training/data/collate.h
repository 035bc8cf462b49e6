// Common ways to build a field from rows of different lengths, for Dataset::collate.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

// Returns field `field` of each row. rows: as Dataset::collate gets them.
std::vector<at::Tensor> column(const std::vector<std::vector<at::Tensor>>& rows, std::size_t field);

// rows: at least one tensor, of shape [n_i, …], on the CPU. They may differ in n_i only. Returns
// [B, n, …] with `fill` after each row's own values. n is the longest n_i, or, if `lengths`
// (ascending) is given, the smallest of these lengths that is long enough. With few different
// shapes, the steps of each shape can become a CUDA graph. Throws Error if a row is longer than all
// lengths, or if rows differ in more than n_i.
at::Tensor pad(const std::vector<at::Tensor>& rows, double fill = 0,
               const std::vector<std::int64_t>& lengths = {});

// i64 [B]: n_i.
at::Tensor lengths_of(const std::vector<at::Tensor>& rows);

// Rows concatenated, one after the other.
struct Ragged {
  at::Tensor values;   // [sum of n_i, …]
  at::Tensor offsets;  // i64 [B + 1]: row i is values [offsets[i], offsets[i + 1])
};
// rows: as for `pad`; n_i may be 0.
Ragged ragged(const std::vector<at::Tensor>& rows);

// Returns i64 [values.size(0)]: the row of each value, on the device of `offsets`. Does not
// synchronise the device. For example, row_weight.index_select(0, row_of_values(…)) gives each
// value its weight, which is 0 in padding rows.
at::Tensor row_of_values(const at::Tensor& offsets, std::int64_t values);

}  // namespace lockstep
