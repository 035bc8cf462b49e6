// Computes the random words of ops/philox/philox_inline.h with ATen's operators, on any device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// Returns word e % 4 of row_words(e / 4, first_global_row + b, step, layer, key) for each row b and
// element e: i64 [rows, elements], in [0, 2^32). Does not synchronise the device.
//   counters   i64 [3] as in ops/dropout/dropout.h
//   key        0-dim i64 on the same device; its 64 bits are the key
at::Tensor philox_rows(std::int64_t rows, std::int64_t elements, const at::Tensor& counters,
                       std::int64_t layer, const at::Tensor& key);

// Returns all words of row_words(quad, first_global_row + row, …), i64 [broadcast shape, 4]. quad
// and row: i64, with shapes that can be broadcast together.
at::Tensor philox_words_of(const at::Tensor& quad, const at::Tensor& row,
                           const at::Tensor& counters, std::int64_t layer, const at::Tensor& key);

}  // namespace lockstep
