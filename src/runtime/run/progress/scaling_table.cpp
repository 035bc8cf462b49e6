// Computes the table of a scaling benchmark from events.
#include "runtime/run/progress/scaling_table.h"

#include "core/base/check.h"
#include "planning/compute.h"
#include "runtime/run/events/json_lines.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lockstep {
namespace {

constexpr double notable_wait = 0.01;  // share of a step

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Adds a step's wait shares. A share that a rank could not measure makes the mean unknown (NaN).
void add_waits(const nlohmann::json& event, std::vector<std::vector<double>>& by_rank) {
  const auto found = event.find("rank_wait_shares");
  if (found == event.end() || !found->is_array()) return;
  by_rank.resize(std::max(by_rank.size(), found->size()));
  for (std::size_t rank = 0; rank < found->size(); ++rank)
    by_rank[rank].push_back((*found)[rank].is_number() ? (*found)[rank].get<double>() : NAN);
}

std::optional<AllReduce> read_all_reduce(const nlohmann::json& event) {
  std::vector<double> seconds;
  for (const nlohmann::json& one : event.value("seconds", nlohmann::json::array()))
    if (one.is_number()) seconds.push_back(one.get<double>());
  const AllReduce read{.bytes = number_or(event, "bytes", 0),
                       .seconds = seconds.empty() ? 0 : quantile(seconds, 0.5)};
  return read.bytes > 0 && read.seconds > 0 ? std::optional(read) : std::nullopt;
}

// The mean by rank over the repeats. Empty if one of them has no value.
std::vector<double> mean_waits(const std::vector<BenchRun>& runs) {
  std::vector<double> waits = runs.front().wait_shares;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].wait_shares.size() != waits.size()) return {};
    for (std::size_t rank = 0; rank < waits.size(); ++rank)
      waits[rank] += runs[i].wait_shares[rank];
  }
  for (double& wait : waits) {
    wait /= static_cast<double>(runs.size());
    if (!std::isfinite(wait)) return {};
  }
  return waits;
}

void take_waits(ScalingRow& row, const std::vector<BenchRun>& runs) {
  row.wait_shares = mean_waits(runs);
  if (row.devices < 2 || row.wait_shares.size() < 2) return;
  const auto [least, most] = std::minmax_element(row.wait_shares.begin(), row.wait_shares.end());
  row.exposed_share = *least;
  if (*most - *least >= notable_wait)
    row.slowest = static_cast<int>(least - row.wait_shares.begin());
}

nlohmann::json value_or_null(const auto& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

}  // namespace

double quantile(std::vector<double> values, double share) {
  LOCKSTEP_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

BenchRun read_bench_run(const std::vector<nlohmann::json>& events, std::int64_t warm_up) {
  BenchRun run;
  std::vector<std::vector<double>> waits;
  for (const nlohmann::json& event : events) {
    const std::string kind = text_or(event, "kind", "");
    if (kind == "start") {
      run.unit = text_or(event, "unit", run.unit);
      run.units_per_step = number_or(event, "units_per_step", 0);
      run.compute = compute_from_json(event);
    } else if (kind == "step" && integer_or(event, "step", 0) > warm_up) {
      run.step_s.push_back(number_or(event, "step_s", NAN));
      add_waits(event, waits);
    } else if (kind == "all_reduce") {
      run.all_reduce = read_all_reduce(event);
    } else if (kind == "graph" && is_true(event, "captured")) {
      run.graph_step = integer_or(event, "step", 0);
    }
  }
  for (const std::vector<double>& rank : waits) run.wait_shares.push_back(mean(rank));
  return run;
}

ScalingRow scaling_row(int devices, const BatchPlan& batch, const std::vector<BenchRun>& runs) {
  LOCKSTEP_CHECK(!runs.empty());
  ScalingRow row{.devices = devices, .batch = batch};
  std::vector<double> all;
  for (const BenchRun& run : runs) {
    LOCKSTEP_CHECK(!run.step_s.empty());
    all.insert(all.end(), run.step_s.begin(), run.step_s.end());
    row.repeat_medians_s.push_back(quantile(run.step_s, 0.5));
    if (run.all_reduce && devices > 1 &&
        (!row.all_reduce || run.all_reduce->seconds < row.all_reduce->seconds))
      row.all_reduce = run.all_reduce;
  }
  row.steps = static_cast<std::int64_t>(all.size());
  row.median_step_s = quantile(all, 0.5);
  row.p10_step_s = quantile(all, 0.1);
  row.p90_step_s = quantile(all, 0.9);
  row.unit = runs.front().unit;
  row.units_per_s = runs.front().units_per_step / row.median_step_s;
  row.mfu = mfu(runs.front().compute, row.median_step_s);
  row.mfu_unknown = runs.front().compute.mfu_unknown;
  take_waits(row, runs);
  return row;
}

void compare(std::vector<ScalingRow>& rows) {
  if (rows.empty()) return;
  const double base = rows.front().units_per_s / rows.front().devices;
  for (ScalingRow& row : rows) row.efficiency = row.units_per_s / row.devices / base;
}

nlohmann::json to_json(const ScalingRow& row) {
  nlohmann::json all_reduce, link;
  if (row.all_reduce)
    all_reduce = {{"bytes", row.all_reduce->bytes},
                  {"seconds", row.all_reduce->seconds},
                  {"algorithm_bytes_per_s", row.all_reduce->algorithm_bytes_per_s()},
                  {"bus_bytes_per_s", row.all_reduce->bus_bytes_per_s(row.devices)}};
  if (row.link) link = {{"kind", row.link->kind}, {"bytes_per_s", row.link->bytes_per_s}};
  return {
      {"devices", row.devices},
      {"global_batch", row.batch.global},
      {"micro_batch", row.batch.micro},
      {"accumulation", row.batch.accumulation},
      {"steps", row.steps},
      {"step_s",
       {{"median", row.median_step_s},
        {"p10", row.p10_step_s},
        {"p90", row.p90_step_s},
        {"repeats", row.repeat_medians_s}}},
      {"unit", row.unit},
      {"units_per_s", row.units_per_s},
      {"efficiency", row.efficiency},
      {"mfu", value_or_null(row.mfu)},
      {"mfu_unknown", row.mfu_unknown},
      {"exposed_share", value_or_null(row.exposed_share)},
      {"wait_shares", row.wait_shares.empty() ? nlohmann::json() : nlohmann::json(row.wait_shares)},
      {"slowest_rank", value_or_null(row.slowest)},
      {"all_reduce", all_reduce},
      {"link", link}};
}

}  // namespace lockstep
