// Compares measured runs on different numbers of devices.
#pragma once

#include "core/devices/gpus/gpu_links.h"
#include "planning/plan.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// A measured all-reduce of as many bytes as the gradients have, with nothing else running.
struct AllReduce {
  double bytes = 0, seconds = 0;
  // algorithm_bytes_per_s is bytes / seconds. bus_bytes_per_s is the traffic on each device's link:
  // algorithm_bytes_per_s * 2 (n - 1) / n, as in NCCL's own tests. It can be compared with the
  // link's bandwidth for any n.
  double algorithm_bytes_per_s() const { return bytes / seconds; }
  double bus_bytes_per_s(int devices) const {
    return algorithm_bytes_per_s() * 2 * (devices - 1) / devices;
  }
};

// One run without its first `warm_up` steps.
struct BenchRun {
  std::vector<double> step_s;
  std::vector<double> wait_shares;  // mean over the steps, for each rank; empty = unknown
  std::string unit = "samples";
  double units_per_step = 0;
  ComputePlan compute;
  std::optional<AllReduce> all_reduce;  // its time is the median
  std::int64_t graph_step = 0;          // the step at which a CUDA graph was captured; 0 = none
};
BenchRun read_bench_run(const std::vector<nlohmann::json>& events, std::int64_t warm_up);

struct ScalingRow {
  int devices = 1;
  BatchPlan batch;
  std::int64_t steps = 0;  // measured steps of all repeats
  // median and percentiles of all these steps
  double median_step_s = 0, p10_step_s = 0, p90_step_s = 0;
  std::vector<double> repeat_medians_s;
  std::string unit;
  double units_per_s = 0;
  double efficiency = 1;  // units_per_s per device, relative to the first row
  std::optional<double> mfu;
  std::string mfu_unknown;
  std::vector<double> wait_shares;  // mean over the repeats
  // The share of a step that the rank with the least waiting waits. It is the cost of communication
  // if no rank waits for another. Nothing on one device, or if the devices cannot report it.
  std::optional<double> exposed_share;
  // the rank that waits least, if another waits at least 1 % of a step more
  std::optional<int> slowest;
  std::optional<AllReduce> all_reduce;  // that of the fastest repeat; nothing on one device
  std::optional<LinkLimit> link;        // nothing = unknown
};
// runs: at least one repeat, each with at least one step.
ScalingRow scaling_row(int devices, const BatchPlan& batch, const std::vector<BenchRun>& runs);
// Sets the efficiency of each row relative to the first.
void compare(std::vector<ScalingRow>& rows);

std::string scaling_text(const std::vector<ScalingRow>& rows);  // a table with a header
nlohmann::json to_json(const ScalingRow& row);                  // unknown values are null

// The value below which the share `share` of the values lies, interpolated. 0.5 gives the median.
double quantile(std::vector<double> values, double share);

}  // namespace lockstep
