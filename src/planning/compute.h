// The FLOPs of a step, and the peak FLOP/s of the devices.
#pragma once

#include "planning/plan.h"

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// global: samples of a step. The peak is the sum over all devices in the run's precision. It is
// unknown if the peak of one device is unknown.
ComputePlan plan_compute(const TrainOptions& options, const Facts& facts, std::int64_t global,
                         const std::vector<Device>& devices);

// Seconds of arithmetic at the full peak of the devices.
struct PeakTimes {
  std::size_t fastest = 0;  // rank of the fastest device
  double one_s = 0;         // a step on that device alone
  double all_s = 0;         // the step on the slowest rank, with its padding
  double sample_s = 0;      // a training sample on the slowest device
};
// Nothing if the FLOPs of a step or the peak are unknown.
std::optional<PeakTimes> times_at_peak(const Plan& plan);

// Model FLOPs utilisation (MFU): model FLOPs per second as a share of the peak, for steps of
// `step_s` seconds. Nothing if the FLOPs, the peak or the time is unknown. Also nothing if the
// result is above 1, because the peak then does not apply to the arithmetic that ran.
std::optional<double> mfu(const ComputePlan& compute, double step_s);

// "1.2 TFLOP a step of at most 535 TFLOP/s on 8 GPUs, so at most 7.5M tokens a second". If the
// FLOPs or the peak are unknown, the text gives the reason.
std::string compute_text(const Plan& plan);
std::string format_flops(double flops);  // "1.98 PFLOP"

// {"flops_per_step", "peak_flops", "mfu_unknown"}; unknown numbers are null.
nlohmann::json to_json(const ComputePlan& compute);
ComputePlan compute_from_json(const nlohmann::json& json);  // also reads records without these keys

}  // namespace lockstep
