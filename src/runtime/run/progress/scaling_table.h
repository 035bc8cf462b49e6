// The table of `lockstep bench`: compares runs on different numbers of devices.
#pragma once

#include "core/devices/gpus/gpu_links.h"
#include "planning/plan.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// A measured all-reduce of the size of the gradients, while nothing else runs.
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

// The measurements of one run, without its first steps (warm-up).
struct BenchRun {
  std::vector<double> step_s;
  // for each rank, the mean share of a step that it waits; empty = unknown
  std::vector<double> wait_shares;
  std::string unit = "samples";
  double units_per_step = 0;
  ComputePlan compute;
  std::optional<AllReduce> all_reduce;  // with the median time of several
  std::int64_t graph_step = 0;          // the step at which a CUDA graph was captured; 0 = none
};
BenchRun read_bench_run(const std::vector<nlohmann::json>& events, std::int64_t warm_up);

struct ScalingRow {
  int devices = 1;
  BatchPlan batch;
  std::int64_t steps = 0;  // number of measured steps, over all repeats of the run
  // median, 10th and 90th percentile over the times of these steps
  double median_step_s = 0, p10_step_s = 0, p90_step_s = 0;
  std::vector<double> repeat_medians_s;
  std::string unit;
  double units_per_s = 0;
  double efficiency = 1;  // throughput per device, divided by that of the first row
  std::optional<double> mfu;
  std::string mfu_unknown;
  std::vector<double> wait_shares;  // for each rank, the mean over the repeats
  // The smallest of wait_shares. A rank that waits for no slower rank waits only for communication,
  // so this is the cost of communication. Nothing if there is one device, or if wait_shares is
  // empty.
  std::optional<double> exposed_share;
  // The rank that waits least. Nothing if no other rank waits at least 1 % of a step more.
  std::optional<int> slowest;
  // of the repeat in which it was fastest; nothing on one device
  std::optional<AllReduce> all_reduce;
  std::optional<LinkLimit> link;  // nothing = unknown
};
// Returns the row for a number of devices, without efficiency and link. runs: the repeats; at least
// one, and each with at least one step.
ScalingRow scaling_row(int devices, const BatchPlan& batch, const std::vector<BenchRun>& runs);
// Sets the efficiency of each row relative to the first.
void compare(std::vector<ScalingRow>& rows);

std::string scaling_text(const std::vector<ScalingRow>& rows);  // a table with a header
nlohmann::json to_json(const ScalingRow& row);                  // unknown values are null

// Returns a quantile of the values, interpolated. share: in [0, 1]; 0.5 gives the median. `values`
// must not be empty.
double quantile(std::vector<double> values, double share);

}  // namespace lockstep
