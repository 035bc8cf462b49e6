#include "tools/monitor/sample_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/text/columns.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"
#include "tools/monitor/own_runs.h"
#include "tools/monitor/reading_text.h"

namespace lockstep {
namespace {

using Row = std::vector<std::string>;

std::string of_two_readings(const Reading& a, const Reading& b, double scale = 1, int digits = 0) {
  return number_text(a, scale, digits) + "/" + number_text(b, scale, digits);
}

std::string processes_table(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                            const FindProcess& find) {
  std::vector<Row> rows{{"GPU", "PID", "user", "SM", "memory", "age", "command"}};
  for (std::size_t i = 0; i < gpus.size(); ++i)
    for (const GpuProcess& process : sample.gpus[i].processes) {
      const std::optional<ProcessInfo> who = find(process.pid);
      rows.push_back(
          {cat(gpus[i].index), cat(process.pid), who ? printable(who->user) : "?",
           process.sm_percent ? cat(fixed(*process.sm_percent, 0), " %") : "-",
           process.memory_bytes ? format_bytes(static_cast<double>(*process.memory_bytes)) : "-",
           who ? age_text(who->age_s) : "?",
           !who       ? "(not a process of this PID namespace, or ended)"
           : who->run ? printable(cat("run ", run_text(*who->run), ": ", who->command))
                      : printable(who->command)});
    }
  std::string untold;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    if (!sample.gpus[i].processes_known && sample.gpus[i].fault.empty())
      untold += cat("GPU ", gpus[i].index, ": the driver does not tell its processes\n");
  return cat(rows.size() == 1 ? "" : "\n" + columns(rows, Flush::right),
             untold.empty() ? "" : "\n" + untold);
}

nlohmann::json reading_json(const MetricInfo& metric, const Reading& reading, double now_s) {
  nlohmann::json json{{"state", to_string(reading.state)}, {"unit", metric.unit}};
  if (!reading.source.empty()) json["source"] = reading.source;
  if (!reading.why.empty()) json["why"] = reading.why;
  if (reading.state != ReadingState::measured) return json;
  json["value"] = reading.value;
  json["age_s"] = std::max(0.0, now_s - reading.at_s);
  json["period_s"] = reading.period_s > 0 ? nlohmann::json(reading.period_s) : nlohmann::json();
  return json;
}

nlohmann::json run_json(const OwnRun& run) {
  const auto or_null = [](const auto& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
  };
  return {{"name", run.name},
          {"path", run.path},
          {"job", run.job},
          {"step", or_null(run.step)},
          {"total_steps", run.total_steps > 0 ? nlohmann::json(run.total_steps) : nlohmann::json()},
          {"units_per_s", or_null(run.units_per_s)},
          {"unit", run.unit.empty() ? nlohmann::json() : nlohmann::json(run.unit)},
          {"eta_s", or_null(run.eta_s)}};
}

nlohmann::json process_json(const GpuProcess& process, const FindProcess& find, double now_s) {
  nlohmann::json json{{"pid", process.pid}, {"graphics", process.graphics}};
  json["memory_bytes"] =
      process.memory_bytes ? nlohmann::json(*process.memory_bytes) : nlohmann::json();
  json["sm_age_s"] = process.sm_percent ? nlohmann::json(std::max(0.0, now_s - process.sm_at_s))
                                        : nlohmann::json();
  json["sm_percent"] = process.sm_percent ? nlohmann::json(*process.sm_percent) : nlohmann::json();
  const std::optional<ProcessInfo> who = find(process.pid);
  json["user"] = who ? nlohmann::json(who->user) : nlohmann::json();
  json["command"] = who ? nlohmann::json(who->command) : nlohmann::json();
  json["age_s"] = who ? nlohmann::json(who->age_s) : nlohmann::json();
  json["run"] = who && who->run ? run_json(*who->run) : nlohmann::json();
  return json;
}

}  // namespace

std::string sample_table(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                         const FindProcess& find) {
  std::vector<Row> rows{{"GPU", "SM %", "tensor %", "DRAM %", "busy %", "memory GiB", "power W",
                         "C", "SM MHz", "PCIe out", "in", "NVLink out", "in", "held back by",
                         "name"}};
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const GpuSample& gpu = sample.gpus[i];
    rows.push_back(
        {cat(gpus[i].index), number_text(gpu[GpuMetric::sm_active]),
         number_text(gpu[GpuMetric::tensor_active]), number_text(gpu[GpuMetric::dram_active]),
         number_text(gpu[GpuMetric::gpu_busy]),
         of_two_readings(gpu[GpuMetric::memory_used], gpu[GpuMetric::memory_total], gib_per_byte,
                         1),
         of_two_readings(gpu[GpuMetric::power], gpu[GpuMetric::power_limit]),
         number_text(gpu[GpuMetric::temperature]),
         of_two_readings(gpu[GpuMetric::sm_clock], gpu[GpuMetric::sm_clock_most]),
         traffic_text(gpu[GpuMetric::pcie_sent]), traffic_text(gpu[GpuMetric::pcie_received]),
         traffic_text(gpu[GpuMetric::nvlink_sent]), traffic_text(gpu[GpuMetric::nvlink_received]),
         gpu.fault.empty() ? limits_text(gpu[GpuMetric::clock_limits]) : printable(gpu.fault),
         printable(gpus[i].name)});
  }
  return columns(rows, Flush::right) + processes_table(gpus, sample, find);
}

std::string csv_head() {
  std::string head = "time,gpu,uuid,name";
  for (const MetricInfo& metric : all_metrics()) {
    std::string unit = metric.unit;
    std::replace(unit.begin(), unit.end(), '/', '_');
    head += cat(",", metric.name, unit.empty() ? "" : unit == "%" ? "_percent" : "_" + unit);
  }
  return head + "\n";
}

std::string csv_lines(const std::vector<GpuInfo>& gpus, const MonitorSample& sample) {
  std::string text;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    text += cat(fixed(sample.wall_s, 3), ",", gpus[i].index, ",", gpus[i].uuid, ",",
                csv_cell(gpus[i].name));
    for (const Reading& reading : sample.gpus[i].readings)
      text += cat(",", reading.state == ReadingState::measured      ? general(reading.value, 12)
                       : reading.state == ReadingState::unsupported ? "unsupported"
                                                                    : "");
    text += "\n";
  }
  return text;
}

nlohmann::json sample_json(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                           const FindProcess& find, std::optional<double> now_s) {
  const double now = now_s.value_or(sample.at_s + sample.reading_s);
  nlohmann::json list = nlohmann::json::array();
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const GpuSample& gpu = sample.gpus[i];
    nlohmann::json metrics = nlohmann::json::object(), processes = nlohmann::json::array();
    for (const MetricInfo& metric : all_metrics())
      metrics[metric.name] = reading_json(metric, gpu[metric.metric], now);
    const Reading& reasons = gpu[GpuMetric::clock_limits];
    if (reasons.state == ReadingState::measured)
      metrics["clock_limits"]["words"] =
          clock_limit_words(static_cast<unsigned long long>(reasons.value));
    for (const GpuProcess& process : gpu.processes)
      processes.push_back(process_json(process, find, now));
    list.push_back({{"gpu", gpus[i].index},
                    {"uuid", gpus[i].uuid},
                    {"name", gpus[i].name},
                    {"fault", gpu.fault.empty() ? nlohmann::json() : nlohmann::json(gpu.fault)},
                    {"metrics", std::move(metrics)},
                    {"processes", gpu.processes_known ? std::move(processes) : nlohmann::json()}});
  }
  return {{"time", sample.wall_s},
          {"gpus", std::move(list)},
          {"self_cpu", sample.self_cpu},
          {"self_call_us", sample.reading_s * 1e6}};
}

}  // namespace lockstep
