// Finds the row of the segment embedding (token types) that each token uses.
#pragma once

#include <ATen/core/Tensor.h>

#include "recipes/dimabsa/encoder/encoder.h"

namespace lockstep::dimabsa {

// Returns i64 [N]. rows: the number of rows of the segment embedding. XLM-R has one row, which
// every token uses.
at::Tensor segment_rows(const EncoderInput& input, std::int64_t rows);

}  // namespace lockstep::dimabsa
