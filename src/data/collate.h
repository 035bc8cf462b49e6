// The usual ways to make a field of rows that differ in length, for Dataset::collate.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

// Field `field` of each row, as Dataset::collate gets them.
std::vector<at::Tensor> column(const std::vector<std::vector<at::Tensor>>& rows, std::size_t field);

// rows: [n_i, …], alike but for n_i, at least one, on the CPU. Returns [B, n, …] with `fill` behind
// each row's own values. n is the longest, or where `lengths` (rising) are given the next of them:
// few shapes, so that steps of each can become a CUDA graph. Throws Error if a row is longer than
// all of them, or if rows are not alike.
at::Tensor pad(const std::vector<at::Tensor>& rows, double fill = 0,
               const std::vector<std::int64_t>& lengths = {});

// i64 [B]: n_i.
at::Tensor lengths_of(const std::vector<at::Tensor>& rows);

// Rows one behind the other.
struct Ragged {
  at::Tensor values;   // [sum of n_i, …]
  at::Tensor offsets;  // i64 [B + 1]: row i is values [offsets[i], offsets[i + 1])
};
// rows: as above; n_i may be 0.
Ragged ragged(const std::vector<at::Tensor>& rows);

// i64 [values.size(0)]: which row each value belongs to, on the device of `offsets`, without
// synchronising it. So row_weight.index_select(0, row_of_values(…)) weighs values, and those of
// padding rows 0.
at::Tensor row_of_values(const at::Tensor& offsets, std::int64_t values);

}  // namespace lockstep
