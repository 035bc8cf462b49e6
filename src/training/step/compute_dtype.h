// Converts the precision of a run to ATen's dtype.
#pragma once

#include "planning/options/train_options.h"

#include <c10/core/ScalarType.h>

namespace lockstep {

at::ScalarType compute_dtype(Precision precision);  // `precision` must not be Precision::automatic

}  // namespace lockstep
