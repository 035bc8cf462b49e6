// Makes the report of a run as JSON. docs/reference/report.md describes it.
#include <cmath>

#include "core/base/version.h"
#include "runtime/run/events/json_lines.h"
#include "tools/report/reports/run_report.h"

namespace lockstep {
namespace {

nlohmann::json finite_or_null(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

nlohmann::json totals_json(const CurveTotals& totals) {
  const bool any = totals.values > 0;
  return {{"values", totals.values},
          {"not_finite", totals.not_finite},
          {"mean", finite_or_null(totals.mean())},
          {"low", any ? nlohmann::json(totals.low) : nlohmann::json()},
          {"high", any ? nlohmann::json(totals.high) : nlohmann::json()},
          {"last", finite_or_null(totals.last)}};
}

nlohmann::json gpu_json(const GpuCurves& gpu) {
  nlohmann::json value{
      {"uuid", gpu.uuid},
      {"index", gpu.index},
      {"samples", gpu.samples},
      {"covered_s", gpu.covered_s},
      {"energy_j", gpu.energy_j ? nlohmann::json(*gpu.energy_j) : nlohmann::json()},
      {"memory_total_bytes", gpu.memory_total_bytes},
      {"power_limit_w", gpu.power_limit_w},
      {"throttling_known_s", gpu.throttling_known_s},
      {"throttled_s", gpu.throttled_s},
      {"most_other_processes", gpu.most_other_processes}};
  value["curves"] = {{"busy_percent", curve_json(gpu.busy)},
                     {"sm_active_percent", curve_json(gpu.sm)},
                     {"memory_used_bytes", curve_json(gpu.memory_bytes)},
                     {"power_w", curve_json(gpu.power)},
                     {"temperature_c", curve_json(gpu.temperature)},
                     {"sm_clock_mhz", curve_json(gpu.sm_clock)}};
  return value;
}

nlohmann::json time_json(const TimeShares& time) {
  return {{"start_up", time.start_up}, {"compute", time.compute},
          {"data", time.data},         {"wait", time.wait},
          {"save", time.save},         {"evaluation", time.evaluation},
          {"other", time.other},       {"taken_back", time.taken_back},
          {"total", time.total}};
}

nlohmann::json options_json_of(const RunReport& report) {
  nlohmann::json changed = nlohmann::json::array();
  for (const RunOption& option : report.changed)
    changed.push_back({{"key", option.key}, {"value", option.value}, {"default", option.standard}});
  return {{"defaults_known", report.defaults_known}, {"changed", changed}};
}

nlohmann::json checkpoints_json(const RunReport& report) {
  nlohmann::json list = nlohmann::json::array();
  for (const CheckpointInfo& checkpoint : report.checkpoints)
    list.push_back({{"step", checkpoint.step},
                    {"bytes", checkpoint.size_bytes},
                    {"time", checkpoint.time},
                    {"metrics", checkpoint.metrics},
                    {"damage", checkpoint.damage}});
  return list;
}

}  // namespace

nlohmann::json curve_json(const Curve& curve) {
  nlohmann::json steps = nlohmann::json::array(), times = nlohmann::json::array(),
                 means = nlohmann::json::array(), smooth = nlohmann::json::array(),
                 lows = nlohmann::json::array(), highs = nlohmann::json::array();
  for (const CurveColumn& column : curve.columns()) {
    steps.push_back(column.at.step);
    times.push_back(column.at.time_s);
    means.push_back(finite_or_null(column.mean()));
    smooth.push_back(finite_or_null(column.smooth));
    if (!curve.is_thinned()) continue;
    lows.push_back(column.values > 0 ? nlohmann::json(column.low) : nlohmann::json());
    highs.push_back(column.values > 0 ? nlohmann::json(column.high) : nlohmann::json());
  }
  nlohmann::json value = totals_json(curve.totals());
  value["curve"] = {{"step", std::move(steps)},
                    {"time_s", std::move(times)},
                    {"mean", std::move(means)},
                    {"smooth", std::move(smooth)}};
  if (!curve.is_thinned()) return value;
  value["curve"]["low"] = std::move(lows);
  value["curve"]["high"] = std::move(highs);
  return value;
}

nlohmann::json run_report_json(const RunReport& report) {
  const RunSeries& series = report.series;
  nlohmann::json value{{"kind", "run"}, {"version", 1}, {"lockstep", version()}};
  value["run"] = summary_json(report.summary);
  value["metric"] = report.metric();
  value["global_batch"] = report.global_batch;
  value["record"] = report.record;
  value["options"] = options_json_of(report);
  value["problems"] = nlohmann::json::array();
  for (const PageNote& problem : report.problems) value["problems"].push_back(problem.text);
  value["smoothing"] = series.weight;
  value["steps"] = value["metrics"] = nlohmann::json::object();
  for (const NamedCurve& one : series.steps) value["steps"][one.name] = curve_json(one.curve);
  for (const NamedCurve& one : series.metrics) value["metrics"][one.name] = curve_json(one.curve);
  value["units"] = series.units;
  value["time_s"] = time_json(series.time);
  value["starts"] = series.starts;
  value["startup"] = series.last_start_up;
  value["counts"] = {{"lines", series.lines},
                     {"bad_lines", series.bad_lines},
                     {"taken_back", series.taken_back},
                     {"unknown_kinds", series.unknown_kinds},
                     {"steps", series.step_lines},
                     {"evaluations", series.evaluations},
                     {"checkpoints", series.checkpoint_count},
                     {"events", series.told_count}};
  value["evaluations"] = series.evals;
  value["best"] = series.best;
  value["events"] = series.told;
  value["checkpoints"] = checkpoints_json(report);
  value["gpus"] = nlohmann::json::array();
  for (const GpuCurves& gpu : report.gpus.gpus) value["gpus"].push_back(gpu_json(gpu));
  value["files"] = nlohmann::json::array();
  for (const RunFolder& folder : report.files)
    value["files"].push_back(
        {{"name", folder.name}, {"files", folder.files.size()}, {"bytes", folder.bytes}});
  value["output"] = nlohmann::json::array();
  for (const LoggedOutput& output : report.output)
    value["output"].push_back({{"file", output.file}, {"lines", output.lines}});
  // File names and texts of other programs may be invalid UTF-8. Writing and parsing repairs them.
  return nlohmann::json::parse(to_line(value), nullptr, false);
}

}  // namespace lockstep
