// Which row of the table of segments each token takes.
#pragma once

#include <ATen/core/Tensor.h>

#include "recipes/dimabsa/encoder/encoder.h"

namespace lockstep::dimabsa {

// i64 [N], for a table of `rows` rows. XLM-R's has one, which every token takes.
at::Tensor segment_rows(const EncoderInput& input, std::int64_t rows);

}  // namespace lockstep::dimabsa
