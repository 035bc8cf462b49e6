// Compares the FLOP/s of the model with the peak of the devices.
#include "planning/compute.h"

#include "core/base/text/text.h"
#include "core/devices/gpus/gpu_peaks.h"
#include "planning/precision.h"
#include "planning/words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

ComputeType compute_type(const PrecisionPlan& precision) {
  switch (precision.type) {
    case Precision::bf16:
      return ComputeType::bf16;
    case Precision::fp16:
      return ComputeType::fp16;
    default:
      return precision.tf32 ? ComputeType::tf32 : ComputeType::fp32;
  }
}

std::string no_peak(const Device& device, const PrecisionPlan& precision) {
  if (device.kind == DeviceKind::cpu) return "no peak is known for CPUs";
  if (device.uuid.starts_with("MIG-")) return "no peak is known for MIG instances";
  return cat("no peak is known for ", device.name.empty() ? "an unnamed GPU" : device.name, " in ",
             products_word(precision));
}

// The peak FLOP/s of each device.
std::vector<double> peaks_of(const Plan& plan) {
  std::vector<double> peaks;
  const double mean = plan.compute.peak_flops / static_cast<double>(plan.devices.size());
  const bool alike =
      std::all_of(plan.devices.begin(), plan.devices.end(),
                  [&](const Device& device) { return device.name == plan.devices.front().name; });
  for (const Device& device : plan.devices)
    peaks.push_back(alike ? mean : peak_flops(device, compute_type(plan.precision)).value_or(mean));
  return peaks;
}

nlohmann::json known(double value) { return value > 0 ? nlohmann::json(value) : nlohmann::json(); }

double number(const nlohmann::json& json, const char* key) {
  return json.contains(key) && json[key].is_number() ? json[key].get<double>() : 0;
}

}  // namespace

ComputePlan plan_compute(const TrainOptions& options, const Facts& facts, std::int64_t global,
                         const std::vector<Device>& devices) {
  ComputePlan compute{.flops_per_step = facts.flops_per_sample * static_cast<double>(global)};
  if (compute.flops_per_step <= 0)
    compute.mfu_unknown = "the recipe does not say how many FLOPs a sample takes";
  const PrecisionPlan precision = plan_precision(options, devices);
  double sum = 0;
  for (const Device& device : devices) {
    const auto peak = peak_flops(device, compute_type(precision));
    if (!peak) {
      if (compute.mfu_unknown.empty()) compute.mfu_unknown = no_peak(device, precision);
      return compute;
    }
    sum += *peak;
  }
  compute.peak_flops = sum;
  return compute;
}

std::optional<double> mfu(const ComputePlan& compute, double step_s) {
  if (!compute.mfu_unknown.empty() || compute.flops_per_step <= 0 || compute.peak_flops <= 0 ||
      !std::isfinite(step_s) || step_s <= 0)
    return std::nullopt;
  const double share = compute.flops_per_step / (step_s * compute.peak_flops);
  return share <= 1 ? std::optional(share) : std::nullopt;
}

std::optional<PeakTimes> times_at_peak(const Plan& plan) {
  const ComputePlan& compute = plan.compute;
  if (compute.flops_per_step <= 0 || compute.peak_flops <= 0) return std::nullopt;
  const std::vector<double> peaks = peaks_of(plan);
  const auto slowest = std::min_element(peaks.begin(), peaks.end());
  const auto fastest = std::max_element(peaks.begin(), peaks.end());
  const BatchPlan& batch = plan.batch;
  const double row_flops = compute.flops_per_step / static_cast<double>(batch.rows());
  return PeakTimes{
      .fastest = static_cast<std::size_t>(fastest - peaks.begin()),
      .one_s = compute.flops_per_step / *fastest,
      .all_s = row_flops * static_cast<double>(batch.micro * batch.accumulation) / *slowest,
      .sample_s = row_flops * static_cast<double>(batch.rows_per_sample) / *slowest};
}

std::string format_flops(double flops) {
  constexpr std::array<const char*, 7> prefixes = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t i = 0;
  while (flops >= 999.5 && i + 1 < prefixes.size()) {
    flops /= 1000;
    ++i;
  }
  return cat(general(flops, 3), " ", prefixes[i], "FLOP");
}

std::string compute_text(const Plan& plan) {
  const ComputePlan& compute = plan.compute;
  std::string text;
  if (compute.flops_per_step > 0) text = cat(format_flops(compute.flops_per_step), " a step");
  if (compute.peak_flops > 0)
    text += cat(text.empty() ? "" : " of ", "at most ", format_flops(compute.peak_flops), "/s on ",
                count_of(static_cast<std::int64_t>(plan.devices.size()), rank_word(plan.devices)));
  if (!compute.mfu_unknown.empty())
    return cat(text, text.empty() ? "" : "; ", "MFU unknown: ", compute.mfu_unknown);
  const double step_s = times_at_peak(plan)->all_s;
  return cat(text, ", so at most ", format_count(plan.units_per_step / step_s), " ", plan.unit,
             " a second");
}

nlohmann::json to_json(const ComputePlan& compute) {
  return {{"flops_per_step", known(compute.flops_per_step)},
          {"peak_flops", known(compute.peak_flops)},
          {"mfu_unknown", compute.mfu_unknown}};
}

ComputePlan compute_from_json(const nlohmann::json& json) {
  const auto known = json.find("mfu_unknown");
  const std::string why = known != json.end() && known->is_string()
                              ? known->get<std::string>()
                              : "the run was planned by an older version";
  return {.flops_per_step = number(json, "flops_per_step"),
          .peak_flops = number(json, "peak_flops"),
          .mfu_unknown = why};
}

}  // namespace lockstep
