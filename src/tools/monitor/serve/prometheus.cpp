#include "tools/monitor/serve/prometheus.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <set>
#include <utility>

#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "core/base/version.h"

namespace lockstep {
namespace {

struct Family {
  std::string name;
  const char* type;
  const char* labels;  // for the reference page
  const char* help;
};

// Conversion from the metric's unit to Prometheus's base unit.
enum class Scale { none, percent, mega };

struct OfMetric {
  GpuMetric metric;
  const char* name;  // follows "lockstep_gpu_"
  Scale scale = Scale::none;
  const char* type = "gauge";
};

// clock_limits is missing here, because it is a separate family with a series per reason.
constexpr std::array<OfMetric, metric_count - 1> of_metrics{{
    {GpuMetric::sm_active, "sm_active_ratio", Scale::percent},
    {GpuMetric::tensor_active, "tensor_active_ratio", Scale::percent},
    {GpuMetric::dram_active, "dram_active_ratio", Scale::percent},
    {GpuMetric::gpu_busy, "busy_ratio", Scale::percent},
    {GpuMetric::memory_busy, "memory_busy_ratio", Scale::percent},
    {GpuMetric::memory_used, "memory_used_bytes"},
    {GpuMetric::memory_total, "memory_size_bytes"},
    {GpuMetric::power, "power_watts"},
    {GpuMetric::power_limit, "power_limit_watts"},
    {GpuMetric::energy, "energy_joules_total", Scale::none, "counter"},
    {GpuMetric::temperature, "temperature_celsius"},
    {GpuMetric::sm_clock, "sm_clock_hertz", Scale::mega},
    {GpuMetric::sm_clock_most, "sm_clock_max_hertz", Scale::mega},
    {GpuMetric::memory_clock, "memory_clock_hertz", Scale::mega},
    {GpuMetric::pcie_sent, "pcie_sent_bytes_per_second"},
    {GpuMetric::pcie_received, "pcie_received_bytes_per_second"},
    {GpuMetric::pcie_generation, "pcie_generation"},
    {GpuMetric::pcie_lanes, "pcie_lanes"},
    {GpuMetric::nvlink_sent, "nvlink_sent_bytes_per_second"},
    {GpuMetric::nvlink_received, "nvlink_received_bytes_per_second"},
}};

constexpr const char* gpu_labels = "gpu, uuid, name";
constexpr const char* process_labels = "gpu, uuid, pid, user, command";

Family family_of(const OfMetric& one) {
  return {cat("lockstep_gpu_", one.name), one.type, gpu_labels, info(one.metric).meaning};
}

const Family limited{"lockstep_gpu_clock_limited", "gauge", "gpu, uuid, name, reason",
                     "1 if this reason keeps the clocks down, else 0"};
const Family up{"lockstep_gpu_up", "gauge", gpu_labels, "1 if the GPU answers, else 0"};
const Family supported{"lockstep_gpu_metric_supported", "gauge", "gpu, uuid, name, metric",
                       "1 if the GPU reports this metric, named as in JSON and CSV; 0 if it never "
                       "does; no series while that is not known"};
const Family processes{"lockstep_gpu_processes", "gauge", gpu_labels,
                       "processes that have a context on the GPU"};
const Family process_memory{"lockstep_gpu_process_memory_bytes", "gauge", process_labels,
                            "device memory of a process; for each GPU at most the 64 processes "
                            "with the most"};
const Family process_sm{"lockstep_gpu_process_sm_ratio", "gauge", process_labels,
                        "share of the multiprocessors that a process used"};

struct OfStatus {
  Family family;
  double value;
  bool of_sample = false;  // the value needs a sample, so it is absent before the first
};

std::vector<OfStatus> of_status(const MonitorStatus& status) {
  return {
      {{"lockstep_driver_hanging_seconds", "gauge", "",
        "how long the present driver call has taken so far; 0 between calls"},
       status.hanging_s},
      {{"lockstep_monitor_sample_age_seconds", "gauge", "",
        "age of the newest sample; if it is above 10 s and three intervals, the series of GPUs are "
        "left out"},
       status.age_s,
       true},
      {{"lockstep_monitor_samples_total", "counter", "", "samples taken since the start"},
       static_cast<double>(status.samples)},
      {{"lockstep_monitor_interval_seconds", "gauge", "", "requested time between samples"},
       status.interval_s},
      {{"lockstep_monitor_driver_call_seconds", "gauge", "",
        "time that the calls to the driver took for the newest sample"},
       status.driver_s,
       true},
      {{"process_cpu_seconds_total", "counter", "", "processor time that Lockstep itself has used"},
       status.cpu_s},
      {{"process_resident_memory_bytes", "gauge", "", "memory that Lockstep itself takes"},
       status.resident_bytes},
      {{"process_start_time_seconds", "gauge", "", "when Lockstep started, in unix time"},
       status.start_s},
  };
}

const Family build_info{"lockstep_build_info", "gauge", "version", "1, with Lockstep's version"};

double scaled(double value, Scale scale) {
  switch (scale) {
    case Scale::none:
      return value;
    case Scale::percent:
      return value / 100;
    case Scale::mega:
      return value * 1e6;
  }
  return value;
}

std::string number(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

using Labels = std::vector<std::pair<const char*, std::string>>;

std::string escaped(const std::string& text) {
  std::string out;
  // a single invalid byte makes Prometheus reject the whole text
  for (const char c : mend_utf8(text)) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

std::string label_text(const Labels& labels) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : labels) parts.push_back(cat(name, "=\"", escaped(value), "\""));
  return parts.empty() ? "" : "{" + join(parts, ",") + "}";
}

// A family with its series. A family without series is not written.
class Series {
 public:
  explicit Series(Family family) : family_(std::move(family)) {}
  void add(const Labels& labels, double value) {
    text_ += cat(family_.name, label_text(labels), " ", number(value), "\n");
  }
  std::string text() const {
    if (text_.empty()) return "";
    return cat("# HELP ", family_.name, " ", family_.help, "\n# TYPE ", family_.name, " ",
               family_.type, "\n", text_);
  }

 private:
  Family family_;
  std::string text_;
};

struct LabelledGpu {
  const GpuSample* sample;
  Labels labels;
};

std::vector<LabelledGpu> gpus_of(const std::vector<GpuInfo>& gpus, const MonitorSample& sample) {
  std::vector<LabelledGpu> all;
  std::set<int> seen;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    if (seen.insert(gpus[i].index).second)
      all.push_back(
          {&sample.gpus[i],
           {{"gpu", cat(gpus[i].index)}, {"uuid", gpus[i].uuid}, {"name", gpus[i].name}}});
  return all;
}

Labels with(Labels labels, const char* name, const std::string& value) {
  labels.emplace_back(name, value);
  return labels;
}

// The program's name without arguments. A command line may contain secrets and differs each time.
std::string program_of(const std::string& command) {
  const std::string word = command.substr(0, command.find(' '));
  const std::size_t slash = word.rfind('/');
  return slash == word.npos || slash + 1 == word.size() ? word : word.substr(slash + 1);
}

std::string text_of_limits(const std::vector<LabelledGpu>& gpus) {
  Series series(limited);
  for (const LabelledGpu& gpu : gpus) {
    const Reading& reading = (*gpu.sample)[GpuMetric::clock_limits];
    if (reading.state != ReadingState::measured) continue;
    const auto reasons = static_cast<unsigned long long>(reading.value);
    for (const ClockLimit& limit : clock_limits())
      series.add(with(gpu.labels, "reason", limit.word), (reasons & limit.bit) != 0 ? 1 : 0);
  }
  return series.text();
}

std::string text_of_support(const std::vector<LabelledGpu>& gpus) {
  Series series(supported);
  for (const LabelledGpu& gpu : gpus)
    for (const MetricInfo& metric : all_metrics()) {
      const Reading& reading = (*gpu.sample)[metric.metric];
      if (reading.state == ReadingState::no_sample) continue;
      series.add(with(gpu.labels, "metric", metric.name),
                 reading.state == ReadingState::measured ? 1 : 0);
    }
  return series.text();
}

std::string text_of_processes(const std::vector<LabelledGpu>& gpus, const FindProcess& find) {
  Series counts(processes), memory(process_memory), sm(process_sm);
  for (const LabelledGpu& gpu : gpus) {
    if (!gpu.sample->processes_known) continue;
    std::vector<GpuProcess> all = gpu.sample->processes;
    counts.add(gpu.labels, static_cast<double>(all.size()));
    std::stable_sort(all.begin(), all.end(), [](const GpuProcess& a, const GpuProcess& b) {
      return a.memory_bytes.value_or(0) > b.memory_bytes.value_or(0);
    });
    if (all.size() > most_processes_per_gpu) all.resize(most_processes_per_gpu);
    for (const GpuProcess& process : all) {
      const std::optional<ProcessInfo> who = find(process.pid);
      const Labels labels{gpu.labels[0],
                          gpu.labels[1],
                          {"pid", cat(process.pid)},
                          {"user", who ? who->user : ""},
                          {"command", who ? program_of(who->command) : ""}};
      if (process.memory_bytes) memory.add(labels, static_cast<double>(*process.memory_bytes));
      if (process.sm_percent) sm.add(labels, scaled(*process.sm_percent, Scale::percent));
    }
  }
  return counts.text() + memory.text() + sm.text();
}

std::string row(const Family& family) {
  return cat("| `", family.name, "` | ", family.type, " | ", family.labels, " | ", family.help,
             " |\n");
}

}  // namespace

std::string prometheus_gpus(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                            const FindProcess& find) {
  const std::vector<LabelledGpu> all = gpus_of(gpus, sample);
  Series answering(up);
  for (const LabelledGpu& gpu : all) answering.add(gpu.labels, gpu.sample->fault.empty() ? 1 : 0);
  std::string text = answering.text();
  for (const OfMetric& one : of_metrics) {
    Series series(family_of(one));
    for (const LabelledGpu& gpu : all) {
      const Reading& reading = (*gpu.sample)[one.metric];
      if (reading.state == ReadingState::measured)
        series.add(gpu.labels, scaled(reading.value, one.scale));
    }
    text += series.text();
  }
  return text + text_of_limits(all) + text_of_support(all) + text_of_processes(all, find);
}

std::string prometheus_status(const MonitorStatus& status) {
  Series build(build_info);
  build.add({{"version", version()}}, 1);
  std::string text = build.text();
  for (const OfStatus& one : of_status(status)) {
    if (one.of_sample && status.samples == 0) continue;
    Series series(one.family);
    series.add({}, one.value);
    text += series.text();
  }
  return text;
}

std::string prometheus_reference() {
  std::string text = "| series | type | labels | meaning |\n|---|---|---|---|\n" + row(up);
  for (const OfMetric& one : of_metrics) text += row(family_of(one));
  for (const Family& family :
       {limited, supported, processes, process_memory, process_sm, build_info})
    text += row(family);
  for (const OfStatus& one : of_status({})) text += row(one.family);
  return text;
}

}  // namespace lockstep
