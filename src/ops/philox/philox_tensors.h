// The draws of ops/philox/philox_inline.h with ATen operators only, on any device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// Word e % 4 of row_words(e / 4, first_global_row + b, step, layer, key) for every row b and
// element e: i64 [rows, elements], each in [0, 2^32). counters: i64 [3] as in
// ops/dropout/dropout.h; key: i64
// [], read as 64 bits, on the same device, which is not synchronised.
at::Tensor philox_rows(std::int64_t rows, std::int64_t elements, const at::Tensor& counters,
                       std::int64_t layer, const at::Tensor& key);

// All words of row_words(quad, first_global_row + row, …): quad and row i64 of any shapes that fit
// each other, to i64 [their common shape, 4].
at::Tensor philox_words_of(const at::Tensor& quad, const at::Tensor& row,
                           const at::Tensor& counters, std::int64_t layer, const at::Tensor& key);

}  // namespace lockstep
