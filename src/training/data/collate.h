// Common ways to build a field from rows of different lengths, for Dataset::collate.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

// Field `field` of each row, as Dataset::collate gets them.
std::vector<at::Tensor> column(const std::vector<std::vector<at::Tensor>>& rows, std::size_t field);

// rows: at least one of shape [n_i, …], alike but for n_i, on the CPU. Returns [B, n, …] with
// `fill` after each row's own values. n is the longest n_i, or the next of `lengths` (rising) if
// given. Few shapes let steps of each become a CUDA graph. Throws Error if a row is longer than all
// lengths, or if rows are not alike.
at::Tensor pad(const std::vector<at::Tensor>& rows, double fill = 0,
               const std::vector<std::int64_t>& lengths = {});

// i64 [B]: n_i.
at::Tensor lengths_of(const std::vector<at::Tensor>& rows);

// Rows concatenated, one after the other.
struct Ragged {
  at::Tensor values;   // [sum of n_i, …]
  at::Tensor offsets;  // i64 [B + 1]: row i is values [offsets[i], offsets[i + 1])
};
// rows: as above; n_i may be 0.
Ragged ragged(const std::vector<at::Tensor>& rows);

// i64 [values.size(0)]: the row of each value, on the device of `offsets`, without synchronising
// it. So row_weight.index_select(0, row_of_values(…)) gives each value its weight, 0 for padding
// rows.
at::Tensor row_of_values(const at::Tensor& offsets, std::int64_t values);

}  // namespace lockstep
