// The arithmetic of a step, and the most that the devices could do.
#pragma once

#include "planning/plan.h"

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// global: samples of a step. The peak is that of these devices in the run's precision. It is
// unknown if it is unknown for one of them.
ComputePlan plan_compute(const TrainOptions& options, const Facts& facts, std::int64_t global,
                         const std::vector<Device>& devices);

// Seconds of arithmetic at the devices' full peak.
struct PeakTimes {
  std::size_t fastest = 0;  // rank of the fastest device
  double one_s = 0;         // a step on that device alone
  double all_s = 0;         // the step on the rank that ends last, with its padding places
  double sample_s = 0;      // a training sample on the slowest device
};
// Nothing if FLOPs or peak are unknown.
std::optional<PeakTimes> times_at_peak(const Plan& plan);

// Model FLOPs utilisation: the model's FLOPs per second, at steps of `step_s` seconds, as a share
// of the peak. Nothing if either is unknown. Nothing for results above 1 either: then the peak is
// not that of the arithmetic that was done.
std::optional<double> mfu(const ComputePlan& compute, double step_s);

// "1.2 TFLOP a step of at most 535 TFLOP/s on 8 GPUs, so at most 7.5M tokens a second", or what is
// unknown and why.
std::string compute_text(const Plan& plan);
std::string format_flops(double flops);  // "1.98 PFLOP"

// {"flops_per_step", "peak_flops", "mfu_unknown"}; unknown numbers are null.
nlohmann::json to_json(const ComputePlan& compute);
ComputePlan compute_from_json(const nlohmann::json& json);  // also reads older records

}  // namespace lockstep
