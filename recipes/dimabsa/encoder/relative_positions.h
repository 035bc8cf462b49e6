// Maps distances between tokens to rows of DeBERTa's embedding of distances (He and others, 2021).
#pragma once

#include <ATen/core/Tensor.h>

#include "recipes/dimabsa/options/encoder_shape.h"

namespace lockstep::dimabsa {

// positions: i64 [S, T]. Returns i64 [S, T, T]: the row for a query at [s, i] and a key at [s, j].
// If shape.position_buckets is above 0, each distance up to half of it has its own row. Larger
// distances share rows on a logarithmic scale, which is computed in f32 as in `transformers`.
at::Tensor relative_rows(const at::Tensor& positions, const EncoderShape& shape);

}  // namespace lockstep::dimabsa
