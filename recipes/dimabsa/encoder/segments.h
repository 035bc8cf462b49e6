// Which row of the table of segments each token uses.
#pragma once

#include <ATen/core/Tensor.h>

#include "recipes/dimabsa/encoder/encoder.h"

namespace lockstep::dimabsa {

// Returns i64 [N], for a table of `rows` rows. XLM-R's table has one row, which every token uses.
at::Tensor segment_rows(const EncoderInput& input, std::int64_t rows);

}  // namespace lockstep::dimabsa
