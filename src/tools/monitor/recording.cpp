#include "tools/monitor/recording.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/json/json_number.h"
#include "core/base/text/text.h"
#include "core/base/version.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr int recording_version = 1;
constexpr double same_period = 0.05;  // periods of GPM vary a little

// Keeps six digits. Whole numbers, such as bytes, stay exact.
json number_json(double value) {
  if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<long long>(value);
  return std::strtod(general(value, 6).c_str(), nullptr);
}

json gpu_json(const GpuInfo& gpu) {
  json entry{{"index", gpu.index}, {"uuid", gpu.uuid}, {"name", gpu.name}, {"pci", gpu.pci_bus_id}};
  if (gpu.memory_total_bytes) entry["memory"] = *gpu.memory_total_bytes;
  if (gpu.compute_major > 0) entry["capability"] = {gpu.compute_major, gpu.compute_minor};
  if (!gpu.fault.empty()) entry["fault"] = gpu.fault;
  return entry;
}

GpuInfo gpu_of(const json& entry) {
  GpuInfo gpu{.index = entry.contains("index") ? whole_member<int>(entry, "index") : 0,
              .uuid = text_or(entry, "uuid", ""),
              .name = text_or(entry, "name", ""),
              .pci_bus_id = text_or(entry, "pci", ""),
              .fault = text_or(entry, "fault", "")};
  gpu.memory_total_bytes = whole_number_of<std::uint64_t>(entry.value("memory", json()));
  if (const json capability = entry.value("capability", json());
      capability.is_array() && capability.size() == 2) {
    const auto major = whole_number_of<int>(capability[0]),
               minor = whole_number_of<int>(capability[1]);
    if (major && minor) std::tie(gpu.compute_major, gpu.compute_minor) = std::pair(*major, *minor);
  }
  return gpu;
}

json processes_json(const GpuSample& gpu, double sample_s) {
  if (!gpu.processes_known) return nullptr;
  json list = json::array();
  for (const GpuProcess& one : gpu.processes) {
    json load;
    if (one.sm_percent) load = number_json(*one.sm_percent);
    if (one.sm_percent && one.sm_at_s < sample_s)
      load = json::array({load, number_json(sample_s - one.sm_at_s)});
    json row = json::array(
        {one.pid, one.memory_bytes ? json(*one.memory_bytes) : json(), std::move(load)});
    if (one.graphics) row.push_back(true);
    list.push_back(std::move(row));
  }
  return list;
}

bool is_same_about(const Reading& a, const Reading& b) {
  return a.source == b.source && a.why == b.why &&
         std::abs(a.period_s - b.period_s) <= same_period * std::abs(b.period_s);
}

}  // namespace

std::string SampleRecorder::head(double wall_s, const json& more) const {
  json gpus = json::array(), metrics = json::array();
  for (const GpuInfo& gpu : gpus_) gpus.push_back(gpu_json(gpu));
  for (const MetricInfo& metric : all_metrics()) metrics.push_back(metric.name);
  json line{{"kind", "recording"}, {"version", recording_version}, {"lockstep", version()},
            {"time", wall_s},      {"gpus", std::move(gpus)},      {"metrics", std::move(metrics)}};
  line.update(more);
  return to_line(line) + "\n";
}

json SampleRecorder::value_of(Known& known, const Reading& reading, double sample_s) const {
  const bool was_measured = known.told && known.reading.state == ReadingState::measured;
  const double before = known.reading.value;
  known = {reading, true};
  if (reading.state == ReadingState::unsupported) return false;
  if (reading.state == ReadingState::no_sample) return nullptr;
  if (reading.at_s < sample_s)
    return json::array({number_json(reading.value), number_json(sample_s - reading.at_s)});
  if (was_measured && before == reading.value) return true;
  return number_json(reading.value);
}

std::string SampleRecorder::lines(const MonitorSample& sample, const FindProcess& find) {
  std::string text;
  json gpus = json::array();
  for (std::size_t i = 0; i < sample.gpus.size(); ++i) {
    const GpuSample& gpu = sample.gpus[i];
    json values = json::array(), about = json::object();
    for (const MetricInfo& metric : all_metrics()) {
      const Reading& reading = gpu[metric.metric];
      Known& known = known_.at(i)[static_cast<std::size_t>(metric.metric)];
      if (!known.told || !is_same_about(known.reading, reading))
        about[metric.name] = {reading.source, number_json(reading.period_s), reading.why};
      values.push_back(value_of(known, reading, sample.at_s));
    }
    json entry{{"v", std::move(values)}, {"p", processes_json(gpu, sample.at_s)}};
    if (!about.empty()) entry["about"] = std::move(about);
    if (!gpu.fault.empty()) entry["fault"] = gpu.fault;
    gpus.push_back(std::move(entry));
    for (const GpuProcess& one : gpu.processes) {
      const std::optional<ProcessInfo> who = find(one.pid);
      if (!who) continue;
      const auto known = processes_.find(one.pid);
      // The pid may belong to a new process.
      if (known != processes_.end() && known->second.command == who->command) continue;
      processes_[one.pid] = *who;
      text += to_line({{"kind", "process"},
                       {"pid", one.pid},
                       {"user", who->user},
                       {"command", who->command},
                       {"started", std::round(sample.wall_s - who->age_s)}}) +
              "\n";
    }
  }
  return text +
         to_line({{"kind", "sample"},
                  {"n", sample.number},
                  {"t", sample.wall_s},
                  {"at", sample.at_s},
                  {"took", number_json(sample.reading_s)},
                  {"cpu", number_json(sample.self_cpu)},
                  {"gpus", std::move(gpus)}}) +
         "\n";
}

Recording::Recording(const std::filesystem::path& path) : path_(path), file_(path) {
  if (!file_) throw Error(cat(path.string(), ": ", errno_text(errno)));
  std::optional<json> head;
  try {
    head = next_line();
  } catch (const Error&) {  // the check below reports it
  }
  if (!head || text_or(*head, "kind", "") != "recording")
    throw Error(cat(path.string(), " is not a recording of lockstep"),
                "make one with lockstep monitor --record FILE");
  head_ = std::move(*head);
  const std::int64_t version = integer_or(head_, "version", 0);
  if (version != recording_version)
    throw Error(cat(path.string(), " is a recording of version ", version,
                    ", but this Lockstep reads version ", recording_version),
                "read it with the Lockstep that made it");
  if (!head_.contains("gpus") || !head_["gpus"].is_array() || !head_.contains("metrics") ||
      !head_["metrics"].is_array())
    damaged("it names no GPUs or metrics");
  for (const json& entry : head_["gpus"]) {
    if (!entry.is_object()) damaged("one of its GPUs has no members");
    try {
      gpus_.push_back(gpu_of(entry));
    } catch (const Error& error) {
      damaged(cat("of a GPU, ", error.what()));
    }
  }
  for (const json& name : head_["metrics"]) {
    int place = -1;
    for (const MetricInfo& metric : all_metrics())
      if (name == metric.name) place = static_cast<int>(metric.metric);
    metrics_.push_back(place);
  }
  known_.resize(gpus_.size());
}

void Recording::damaged(const std::string& what) const {
  throw Error(cat(path_.string(), ", line ", line_, ": ", what), "the lines before it are whole");
}

std::optional<json> Recording::next_line() {
  std::string text;
  for (char letter; file_.get(letter) && letter != '\n'; text += letter)
    if (text.size() >= record_bytes) damaged("it is longer than a line of a recording");
  if (!file_) return std::nullopt;  // the end of the file, or an incomplete line
  ++line_;
  json line = parse_object(text);
  if (line.is_discarded()) damaged("this is no line of a recording");
  return line;
}

MonitorSample Recording::sample_of(const json& line) {
  MonitorSample sample{.number = integer_or(line, "n", 0),
                       .wall_s = number_or(line, "t", 0),
                       .at_s = number_or(line, "at", 0),
                       .reading_s = number_or(line, "took", 0),
                       .self_cpu = number_or(line, "cpu", 0)};
  const json gpus = line.value("gpus", json());
  if (!gpus.is_array() || gpus.size() != gpus_.size()) damaged("it has other GPUs than line 1");
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const json& entry = gpus[i];
    GpuSample& gpu = known_[i];
    if (!entry.is_object() || !entry.contains("v") || !entry["v"].is_array() ||
        entry["v"].size() != metrics_.size())
      damaged("it has other metrics than line 1");
    const json about = entry.value("about", json::object());
    for (std::size_t m = 0; m < metrics_.size(); ++m) {
      if (metrics_[m] < 0) continue;
      Reading& reading = gpu.readings[static_cast<std::size_t>(metrics_[m])];
      const char* name = info(static_cast<GpuMetric>(metrics_[m])).name;
      if (const json told = about.is_object() ? about.value(name, json()) : json();
          told.is_array() && told.size() == 3 && told[0].is_string() && told[1].is_number() &&
          told[2].is_string()) {
        reading.source = told[0];
        reading.period_s = told[1];
        reading.why = told[2];
      }
      const json& value = entry["v"][m];
      if (value.is_null() || value == false) {
        reading.state = value.is_null() ? ReadingState::no_sample : ReadingState::unsupported;
        continue;
      }
      const bool is_old =
          value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number();
      if (!is_old && !value.is_number() && value != true) damaged(cat(name, " has no value"));
      if (value == true && reading.state != ReadingState::measured)
        damaged(cat(name, " is as before, but was not there"));
      if (value.is_number()) reading.value = value;
      if (is_old) reading.value = value[0];
      reading.state = ReadingState::measured;
      reading.at_s = sample.at_s - (is_old ? value[1].get<double>() : 0);
    }
    gpu.fault = text_or(entry, "fault", "");
    gpu.processes.clear();
    const json processes = entry.value("p", json());
    gpu.processes_known = processes.is_array();
    if (gpu.processes_known)
      for (const json& row : processes) {
        const auto pid =
            row.is_array() && row.size() >= 3 ? whole_number_of<int>(row[0]) : std::nullopt;
        if (!pid) damaged("bad process");
        GpuProcess one{.pid = *pid, .graphics = row.size() > 3 && row[3] == true};
        one.memory_bytes = whole_number_of<std::uint64_t>(row[1]);
        const bool is_old = row[2].is_array() && row[2].size() == 2 && row[2][0].is_number() &&
                            row[2][1].is_number();
        if (is_old || row[2].is_number())
          one.sm_percent = is_old ? row[2][0].get<double>() : row[2].get<double>();
        one.sm_at_s = sample.at_s - (is_old ? row[2][1].get<double>() : 0);
        gpu.processes.push_back(one);
      }
  }
  sample.gpus = known_;
  newest_wall_s_ = sample.wall_s;
  return sample;
}

std::optional<MonitorSample> Recording::next() {
  while (std::optional<json> line = next_line()) {
    const std::string kind = text_or(*line, "kind", "");
    if (kind == "sample") return sample_of(*line);
    if (kind != "process") {
      on_other(*line);
    } else if (const auto pid = whole_number_of<int>(line->value("pid", json()))) {
      processes_[*pid] = {
          {.user = text_or(*line, "user", "?"), .command = text_or(*line, "command", "?")},
          number_or(*line, "started", 0)};
    }
  }
  return std::nullopt;
}

std::optional<ProcessInfo> Recording::process(int pid) const {
  const auto found = processes_.find(pid);
  if (found == processes_.end()) return std::nullopt;
  ProcessInfo info = found->second.info;
  info.age_s = std::max(0.0, newest_wall_s_ - found->second.started_s);
  return info;
}

}  // namespace lockstep
