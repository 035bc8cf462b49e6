// Chooses the precision of a run.
#include "planning/precision.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/words.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

// The first major compute capability with bf16 and TF32.
constexpr int first_with_bf16_and_tf32 = 8;

std::string name_of(const Device& device) {
  return cat(device_label(device), device.name.empty() ? "" : cat(" (", device.name, ")"));
}

const Device* first_without(Precision precision, const std::vector<Device>& devices) {
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const Device& device) {
    return !is_native(precision, device);
  });
  return found == devices.end() ? nullptr : &*found;
}

PrecisionPlan choose(bool low_precision, const std::vector<Device>& devices) {
  const Device* const without_fp16 = first_without(Precision::fp16, devices);
  if (without_fp16 != nullptr && without_fp16->kind == DeviceKind::cpu)
    return {.type = Precision::fp32, .why = "shorter types are slower on most CPUs"};
  if (!low_precision)
    return {.type = Precision::fp32,
            .why = "the recipe does not say that its model can do with less"};
  if (without_fp16 != nullptr)
    return {.type = Precision::fp32,
            .why = cat("the compute capability of ", name_of(*without_fp16), " is not known")};
  if (const Device* const without_bf16 = first_without(Precision::bf16, devices))
    return {.type = Precision::fp16,
            .why = cat(name_of(*without_bf16), " is sm_", without_bf16->compute_major,
                       without_bf16->compute_minor, " and has no bf16")};
  return {.type = Precision::bf16,
          .why = devices.size() == 1 ? "the GPU has it natively" : "all GPUs have it natively"};
}

}  // namespace

const char* precision_word(Precision precision) {
  for (const auto& [value, word] : EnumNames<Precision>::value)
    if (value == precision) return word;
  return "";
}

const char* products_word(const PrecisionPlan& precision) {
  return precision.tf32 ? "TF32" : precision_word(precision.type);
}

bool is_native(Precision precision, const Device& device) {
  if (precision == Precision::fp32) return true;
  if (device.kind == DeviceKind::cpu) return false;
  return device.compute_major >= (precision == Precision::bf16 ? first_with_bf16_and_tf32 : 1);
}

bool is_native(Precision precision, const std::vector<Device>& devices) {
  return first_without(precision, devices) == nullptr;
}

void resolve_precision(TrainOptions& options, bool low_precision,
                       const std::vector<Device>& devices) {
  LOCKSTEP_CHECK(!devices.empty());
  if (options.precision != Precision::automatic) return;
  const PrecisionPlan choice = choose(low_precision, devices);
  options.precision = choice.type;
  options.precision_why = choice.why;
}

void check_precision(const TrainOptions& options, const std::vector<Device>& devices) {
  if (options.precision != Precision::bf16) return;
  for (const Device& device : devices)
    if (device.kind == DeviceKind::cuda && device.compute_major > 0 &&
        !is_native(Precision::bf16, device))
      throw Error(cat("precision = bf16, but ", name_of(device), " is sm_", device.compute_major,
                      device.compute_minor, " and has no bf16 (needs sm_80 or newer)"),
                  "set precision=auto, or choose other devices with --devices; a run may go on in "
                  "another precision, because its checkpoints hold fp32 weights");
}

PrecisionPlan plan_precision(const TrainOptions& options, const std::vector<Device>& devices) {
  LOCKSTEP_CHECK(options.precision != Precision::automatic);
  const bool have_tf32 = std::all_of(devices.begin(), devices.end(), [](const Device& device) {
    return device.kind == DeviceKind::cuda && device.compute_major >= first_with_bf16_and_tf32;
  });
  return {.type = options.precision,
          .tf32 = options.precision == Precision::fp32 && options.matmul.tf32 && have_tf32,
          .why = options.precision_why};
}

std::string precision_text(const PrecisionPlan& precision) {
  std::string text = precision_word(precision.type);
  if (precision.type == Precision::fp16) text += " with loss scaling";
  if (precision.tf32) text += ", products in TF32 (matmul.tf32)";
  return precision.why.empty() ? text : cat(text, ": ", precision.why, " (precision = auto)");
}

nlohmann::json to_json(const PrecisionPlan& precision) {
  return {
      {"type", precision_word(precision.type)}, {"tf32", precision.tf32}, {"why", precision.why}};
}

}  // namespace lockstep
