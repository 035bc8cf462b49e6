// How much arithmetic a step is, and how much the devices could do at most.
#pragma once

#include "planning/plan.h"

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// global: samples of a step. The peak is that of the run's precision on the very devices, unknown
// if it is for one of them.
ComputePlan plan_compute(const TrainOptions& options, const Facts& facts, std::int64_t global,
                         const std::vector<Device>& devices);

// Seconds of arithmetic at the devices' full peak.
struct PeakTimes {
  std::size_t fastest = 0;  // rank of the fastest device
  double one_s = 0;         // a step on that one alone
  double all_s = 0;         // on the rank that ends last: its places, of padding too
  double sample_s = 0;      // a training sample on the slowest device
};
// Nothing where FLOPs or peak are unknown.
std::optional<PeakTimes> times_at_peak(const Plan& plan);

// Model FLOPs utilisation: the share of the peak at which steps of `step_s` seconds do the model's
// FLOPs. Nothing where either is unknown, and above 1: then the peak is not that of the arithmetic
// that was done.
std::optional<double> mfu(const ComputePlan& compute, double step_s);

// "1.2 TFLOP a step of at most 535 TFLOP/s on 8 GPUs, so at most 7.5M tokens a second", or what is
// unknown and why.
std::string compute_text(const Plan& plan);
std::string format_flops(double flops);  // "1.98 PFLOP"

// {"flops_per_step", "peak_flops", "mfu_unknown"}; unknown numbers are null.
nlohmann::json to_json(const ComputePlan& compute);
ComputePlan compute_from_json(const nlohmann::json& json);  // of older records too

}  // namespace lockstep
