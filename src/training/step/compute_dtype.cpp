#include "training/step/compute_dtype.h"

#include "core/base/check.h"

namespace lockstep {

at::ScalarType compute_dtype(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return at::kFloat;
    case Precision::bf16:
      return at::kBFloat16;
    case Precision::fp16:
      return at::kHalf;
    case Precision::automatic:
      break;
  }
  LOCKSTEP_CHECK(false);
}

}  // namespace lockstep
