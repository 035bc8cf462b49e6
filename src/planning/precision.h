// The precision in which the model computes, and the precisions that devices support natively.
#pragma once

#include "planning/plan.h"

#include <string>
#include <vector>

namespace lockstep {

const char* precision_word(Precision precision);  // "bf16"
// the precision of matrix products: "TF32", or else the precision of the model
const char* products_word(const PrecisionPlan& precision);

// Whether the device computes in this precision natively. bf16 is native from sm_80 on, and fp16 on
// any GPU with a known compute capability. fp32 is native everywhere.
bool is_native(Precision precision, const Device& device);
// Whether the precision is native on all of the devices.
bool is_native(Precision precision, const std::vector<Device>& devices);

// Replaces options.precision = auto by a precision, and records the reason. GPUs use bf16 if all
// have it natively, and otherwise fp16. The result is fp32 for CPU ranks, if low_precision is
// false, or if a compute capability is unknown. low_precision: whether the recipe supports bf16 and
// fp16.
void resolve_precision(TrainOptions& options, bool low_precision,
                       const std::vector<Device>& devices);

// Throws Error for bf16 on a GPU that is known to be older than sm_80. Older GPUs only emulate
// bf16, which is slower than fp32.
void check_precision(const TrainOptions& options, const std::vector<Device>& devices);

// options.precision must not be auto.
PrecisionPlan plan_precision(const TrainOptions& options, const std::vector<Device>& devices);

// "bf16: all GPUs have it natively (precision = auto)"
std::string precision_text(const PrecisionPlan& precision);
nlohmann::json to_json(const PrecisionPlan& precision);

}  // namespace lockstep
