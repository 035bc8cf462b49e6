// The precision that the model computes in, and the precisions that the devices have natively.
#pragma once

#include "planning/plan.h"

#include <string>
#include <vector>

namespace lockstep {

const char* precision_word(Precision precision);            // "bf16"
const char* products_word(const PrecisionPlan& precision);  // the same, or "TF32"

// bf16 from sm_80 on, fp16 on every GPU, fp32 everywhere.
bool is_native(Precision precision, const Device& device);
// Whether it is native on all of them.
bool is_native(Precision precision, const std::vector<Device>& devices);

// If options.precision is auto, replaces it by the shortest type that all devices have natively,
// bf16 before fp16, and records why. low_precision: whether the recipe works with less than fp32.
void resolve_precision(TrainOptions& options, bool low_precision,
                       const std::vector<Device>& devices);

// Throws Error for bf16 on GPUs that only emulate it, slower than fp32.
void check_precision(const TrainOptions& options, const std::vector<Device>& devices);

// options.precision: resolved.
PrecisionPlan plan_precision(const TrainOptions& options, const std::vector<Device>& devices);

// "bf16, which all GPUs have natively (precision = auto)"
std::string precision_text(const PrecisionPlan& precision);
nlohmann::json to_json(const PrecisionPlan& precision);

}  // namespace lockstep
