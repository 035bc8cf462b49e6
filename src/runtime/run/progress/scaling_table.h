// A comparison of measured runs on different numbers of devices.
#pragma once

#include "core/devices/gpus/gpu_links.h"
#include "planning/plan.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// An all-reduce of as many bytes as the gradient, measured alone.
struct AllReduce {
  double bytes = 0, seconds = 0;
  // bytes / seconds, and the traffic that it causes on each device's link: x 2 (n - 1) / n, as
  // NCCL's own tests count. The second can be compared with the link's bandwidth for any n.
  double algorithm_bytes_per_s() const { return bytes / seconds; }
  double bus_bytes_per_s(int devices) const {
    return algorithm_bytes_per_s() * 2 * (devices - 1) / devices;
  }
};

// One run, without its first `warm_up` steps.
struct BenchRun {
  std::vector<double> step_s;
  std::vector<double> wait_shares;  // for each rank, the mean over the steps; empty = unknown
  std::string unit = "samples";
  double units_per_step = 0;
  ComputePlan compute;
  std::optional<AllReduce> all_reduce;  // seconds: the median
  std::int64_t graph_step = 0;          // the step in which a graph was captured; 0 = none was
};
BenchRun read_bench_run(const std::vector<nlohmann::json>& events, std::int64_t warm_up);

struct ScalingRow {
  int devices = 1;
  BatchPlan batch;
  std::int64_t steps = 0;                                    // measured steps of all repeats
  double median_step_s = 0, p10_step_s = 0, p90_step_s = 0;  // over all those steps
  std::vector<double> repeat_medians_s;
  std::string unit;
  double units_per_s = 0;
  double efficiency = 1;  // units_per_s per device, relative to the first row
  std::optional<double> mfu;
  std::string mfu_unknown;
  std::vector<double> wait_shares;  // mean over the repeats
  // Share of the step that the least waiting rank waits: the cost of communication when no rank
  // waits for another. Nothing on one device, or if the devices cannot report it.
  std::optional<double> exposed_share;
  std::optional<int> slowest;           // the rank that waits least, if others wait 1 % more
  std::optional<AllReduce> all_reduce;  // that of the fastest repeat; nothing on one device
  std::optional<LinkLimit> link;        // nothing = unknown
};
// runs: at least one repeat, each with at least one step.
ScalingRow scaling_row(int devices, const BatchPlan& batch, const std::vector<BenchRun>& runs);
// Sets the efficiency of each row, relative to the first.
void compare(std::vector<ScalingRow>& rows);

std::string scaling_text(const std::vector<ScalingRow>& rows);  // a table with a head
nlohmann::json to_json(const ScalingRow& row);                  // unknown values are null

// The value below which that share of the values lies, interpolated; 0.5 gives the median.
double quantile(std::vector<double> values, double share);

}  // namespace lockstep
