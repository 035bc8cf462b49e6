// The dtype that a model computes in, as ATen names it.
#pragma once

#include "planning/options/train_options.h"

#include <c10/core/ScalarType.h>

namespace lockstep {

at::ScalarType compute_dtype(Precision precision);  // not for Precision::automatic, which a record
                                                    // never holds

}  // namespace lockstep
