// Implements GpuReader with NVML.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <set>
#include <utility>

#include "core/devices/nvml/nvml_calls.h"
#include "core/devices/nvml/nvml_library.h"
#include "core/devices/nvml/nvml_links.h"
#include "core/devices/nvml/nvml_processes.h"
#include "tools/monitor/gpu/gpm.h"
#include "tools/monitor/gpu/gpu_reader.h"

namespace lockstep {
namespace {

constexpr double kibibyte = 1024;
// The reader waits between two equal calls for a multiple of the call's duration. A multiple of
// wall-clock time keeps samples on time. A multiple of CPU time, which grows with the number of
// GPUs, keeps the total CPU load small. CPU times on an H200 that trains: energy counter 3 ms,
// utilisation of processes 2 ms, maximum clock 1.5 ms. Lists of processes take 1 ms, and PCIe lanes
// 0.1 ms. Most other calls take a few microseconds.
constexpr double slow_call_s = 0.0002;
constexpr double rest_of_clock = 100, rest_of_cpu = 2000;
// The shortest pause between queries of values that hardly ever change, once they are known.
double least_rest_s(GpuMetric metric) {
  switch (metric) {
    case GpuMetric::sm_clock_most:
      return 600;
    case GpuMetric::pcie_lanes:
      return 10;
    default:
      return 0;
  }
}
// A process that starts or ends changes the memory in use by more than this. After such a change,
// processes are listed earlier than planned.
constexpr double new_process_bytes = 8 << 20;
// Rows of a process's utilisation that are older than this are ignored.
constexpr double oldest_process_row_s = 2;

// Wall-clock time and CPU time of this thread. A Moment is a point in time, or the time between two
// points.
struct Moment {
  double clock_s = 0, cpu_s = 0;
};

// Decides when a call is due again.
class Turn {
 public:
  bool is_due(double now_s) const { return now_s >= due_s_; }
  void begin(Moment now) { began_ = now; }
  // The first call is exceptionally slow, so the cheaper one of the last two calls counts.
  void end(Moment now, std::size_t gpus, double least_s = 0) {
    const Moment cost{now.clock_s - began_.clock_s, now.cpu_s - began_.cpu_s};
    const Moment cheaper{std::min(cost.clock_s, before_.clock_s),
                         std::min(cost.cpu_s, before_.cpu_s)};
    if (std::max(cheaper.clock_s, cheaper.cpu_s) > slow_call_s)
      least_s = std::max({least_s, rest_of_clock * cheaper.clock_s,
                          rest_of_cpu * static_cast<double>(gpus) * cheaper.cpu_s});
    due_s_ = now.clock_s + least_s;
    before_ = cost;
  }

 private:
  Moment began_, before_;  // before_: the cost of the previous call
  double due_s_ = 0;
};

// The last reading of one metric, and when to query it again.
struct Asked {
  Reading last;
  Turn turn;
  bool never = false;  // the GPU or the driver does not support it, so it is not queried again
};

struct ProcessLoad {
  double sm_percent = 0, at_s = 0;
};

struct ListSizes {
  std::size_t computing = 0, by_mps = 0, drawing = 0;
};

// A counter that grows. A rate needs two readings.
struct Counter {
  double value = 0, at_s = 0;
  bool known = false;
};

struct Gpu {
  nvml::Device device = nullptr;        // null if NVML gave no handle
  nvml::Return answer = nvml::success;  // NVML's answer to the request for the handle
  std::vector<nvml::Device> mig_instances;
  double mig_due_s = 0;  // instances may be recreated during monitoring
  std::array<Asked, metric_count> asked;
  Gpm gpm;
  std::array<Counter, 2> nvlink_counters;
  std::vector<GpuProcess> processes;  // sorted by pid
  bool processes_known = false;
  double listed_at_bytes = 0;  // the memory in use when processes were listed
  ListSizes list_sizes;        // lengths of the lists at the last call
  Turn list_turn;
  std::map<unsigned, ProcessLoad> loads;  // key: pid
  std::size_t load_rows = 0;              // number of rows at the last call
  Turn load_turn;
};

class NvmlReader final : public GpuReader {
 public:
  NvmlReader(Clock& clock, double (*cpu_s)()) : clock_(clock), cpu_s_(cpu_s) {
    unsigned count = 0;
    if (!library_.started() || api_.nvmlDeviceGetCount_v2(&count) != nvml::success) return;
    for (unsigned i = 0; i < count; ++i) {
      nvml::Device device = nullptr;
      const nvml::Return result = api_.nvmlDeviceGetHandleByIndex_v2(i, &device);
      if (result == nvml::no_permission) continue;  // the GPU belongs to another container
      if (result != nvml::success) device = nullptr;
      gpus_.push_back(identity(device, static_cast<int>(i)));
      states_.push_back({.device = device, .answer = result, .gpm = Gpm(api_, device)});
    }
  }

  const std::vector<GpuInfo>& gpus() const override { return gpus_; }
  std::string why_absent() const override { return library_.why_absent(); }
  GpuSample read(std::size_t position) override;

 private:
  GpuInfo identity(nvml::Device device, int index) const;
  template <class Read>
  void take(Gpu& gpu, GpuMetric metric, const char* source, Read read);
  void read_load(Gpu& gpu);
  void read_board(Gpu& gpu);
  void read_traffic(Gpu& gpu);
  void read_nvlink_counter(Gpu& gpu, std::size_t which, GpuMetric metric, unsigned field);
  void keep(Gpu& gpu, GpuMetric metric, const Reading& reading) {
    gpu.asked[static_cast<std::size_t>(metric)].last = reading;
  }
  void list_processes(Gpu& gpu) const;
  void read_processes(Gpu& gpu, GpuSample& sample) const;
  void read_process_loads(Gpu& gpu) const;
  void add_process_loads(Gpu& gpu, GpuSample& sample) const;
  Moment now() const { return {clock_.now_s(), cpu_s_()}; }

  Clock& clock_;
  double (*cpu_s_)();
  NvmlLibrary library_;
  const nvml::Api& api_ = library_.api();
  std::vector<GpuInfo> gpus_;
  std::vector<Gpu> states_;
};

GpuInfo NvmlReader::identity(nvml::Device device, int index) const {
  GpuInfo info{.index = index};
  char text[nvml::text_length] = {};
  nvml::PciInfo pci{};
  if (!device) return info;
  if (nvml::ask(api_.nvmlDeviceGetName, device, text, unsigned{sizeof text}) == nvml::success)
    info.name = text;
  if (nvml::ask(api_.nvmlDeviceGetUUID, device, text, unsigned{sizeof text}) == nvml::success)
    info.uuid = text;
  if (nvml::ask(api_.nvmlDeviceGetPciInfo_v3, device, &pci) == nvml::success)
    info.pci_bus_id = pci_bus_id(pci);
  return info;
}

// `read(double& value)` writes the value and returns NVML's result code.
template <class Read>
void NvmlReader::take(Gpu& gpu, GpuMetric metric, const char* source, Read read) {
  Asked& asked = gpu.asked[static_cast<std::size_t>(metric)];
  if (asked.never || !asked.turn.is_due(clock_.now_s())) return;
  double value = 0;
  asked.turn.begin(now());
  const nvml::Return result = read(value);
  asked.turn.end(now(), states_.size(), result == nvml::success ? least_rest_s(metric) : 0);
  asked.last = {.at_s = clock_.now_s(), .source = source};
  if (result == nvml::success && std::isfinite(value)) {
    asked.last.state = ReadingState::measured;
    asked.last.value = value;
  } else if (result == nvml::not_supported || result == nvml::function_not_found) {
    asked.never = true;
    asked.last.state = ReadingState::unsupported;
    asked.last.why = result == nvml::function_not_found ? "this driver lacks the function"
                                                        : "this GPU does not tell";
  } else {
    asked.last.why =
        result == nvml::success ? "the driver gave no number" : library_.error_text(result);
  }
}

void NvmlReader::read_load(Gpu& gpu) {
  const nvml::Device device = gpu.device;
  take(gpu, GpuMetric::gpu_busy, "NVML utilization", [&](double& value) {
    nvml::Utilization rates{};
    const nvml::Return result = nvml::ask(api_.nvmlDeviceGetUtilizationRates, device, &rates);
    value = rates.gpu;
    return result;
  });
  take(gpu, GpuMetric::memory_busy, "NVML utilization", [&](double& value) {
    nvml::Utilization rates{};
    const nvml::Return result = nvml::ask(api_.nvmlDeviceGetUtilizationRates, device, &rates);
    value = rates.memory;
    return result;
  });
  nvml::Memory memory{};
  nvml::Return result = read_memory(api_, device, memory);
  const char* source = "NVML memory";
  if (result == nvml::no_permission && !gpu.mig_instances.empty()) {
    source = "NVML memory of MIG instances";  // every user may query instances
    memory = {};
    for (const nvml::Device instance : gpu.mig_instances) {
      nvml::Memory part{};
      if (read_memory(api_, instance, part) != nvml::success) {  // the instance is gone
        result = nvml::no_permission;
        gpu.mig_due_s = 0;
        break;
      }
      result = nvml::success;
      memory.used += part.used;
      memory.total += part.total;
    }
  }
  take(gpu, GpuMetric::memory_used, source, [&](double& value) {
    value = static_cast<double>(memory.used);
    return result;
  });
  take(gpu, GpuMetric::memory_total, source, [&](double& value) {
    value = static_cast<double>(memory.total);
    return result;
  });
}

void NvmlReader::read_board(Gpu& gpu) {
  const nvml::Device device = gpu.device;
  const auto number = [&](GpuMetric metric, const char* source, double scale, auto function,
                          auto... arguments) {
    take(gpu, metric, source, [&](double& value) {
      unsigned raw = 0;
      const nvml::Return result = nvml::ask(function, device, arguments..., &raw);
      value = raw * scale;
      return result;
    });
  };
  const auto long_number = [&](GpuMetric metric, const char* source, double scale, auto function) {
    take(gpu, metric, source, [&](double& value) {
      unsigned long long raw = 0;
      const nvml::Return result = nvml::ask(function, device, &raw);
      value = static_cast<double>(raw) * scale;
      return result;
    });
  };
  number(GpuMetric::power, "NVML power", 1e-3, api_.nvmlDeviceGetPowerUsage);
  number(GpuMetric::power_limit, "NVML power", 1e-3, api_.nvmlDeviceGetEnforcedPowerLimit);
  long_number(GpuMetric::energy, "NVML energy", 1e-3, api_.nvmlDeviceGetTotalEnergyConsumption);
  number(GpuMetric::temperature, "NVML temperature", 1, api_.nvmlDeviceGetTemperature,
         nvml::temperature_of_chip);
  number(GpuMetric::sm_clock, "NVML clock", 1, api_.nvmlDeviceGetClockInfo, nvml::clock_of_sms);
  number(GpuMetric::sm_clock_most, "NVML clock", 1, api_.nvmlDeviceGetMaxClockInfo,
         nvml::clock_of_sms);
  number(GpuMetric::memory_clock, "NVML clock", 1, api_.nvmlDeviceGetClockInfo,
         nvml::clock_of_memory);
  long_number(GpuMetric::clock_limits, "NVML clock reasons", 1,
              api_.nvmlDeviceGetCurrentClocksEventReasons
                  ? api_.nvmlDeviceGetCurrentClocksEventReasons
                  : api_.nvmlDeviceGetCurrentClocksThrottleReasons);
  number(GpuMetric::pcie_generation, "NVML PCIe", 1, api_.nvmlDeviceGetCurrPcieLinkGeneration);
  number(GpuMetric::pcie_lanes, "NVML PCIe", 1, api_.nvmlDeviceGetCurrPcieLinkWidth);
}

void NvmlReader::read_nvlink_counter(Gpu& gpu, std::size_t which, GpuMetric metric,
                                     unsigned field) {
  Counter& counter = gpu.nvlink_counters[which];
  const Counter before = counter;
  take(gpu, metric, "NVML NVLink counters", [&](double& value) {
    nvml::FieldValue answer{.field = field, .scope = nvml::all_nvlinks};
    nvml::Return result = nvml::ask(api_.nvmlDeviceGetFieldValues, gpu.device, 1, &answer);
    if (result == nvml::success) result = answer.result;
    if (result == nvml::success && answer.type != nvml::value_is_unsigned_long_long)
      result = nvml::not_supported;
    counter = {.value = static_cast<double>(answer.value.as_unsigned_long_long) * kibibyte,
               .at_s = clock_.now_s(),
               .known = result == nvml::success};
    // The rate is NaN for the first reading, and after a counter was reset.
    const bool rate = before.known && counter.at_s > before.at_s && counter.value >= before.value;
    value = rate ? (counter.value - before.value) / (counter.at_s - before.at_s) : NAN;
    return result;
  });
  if (before.known && counter.known && counter.at_s > before.at_s)
    gpu.asked[static_cast<std::size_t>(metric)].last.period_s = counter.at_s - before.at_s;
}

void NvmlReader::read_traffic(Gpu& gpu) {
  if (!gpu.gpm.supported()) {
    const auto pcie = [&](GpuMetric metric, unsigned direction) {
      take(gpu, metric, "NVML PCIe throughput", [&](double& value) {
        unsigned raw = 0;
        const nvml::Return result =
            nvml::ask(api_.nvmlDeviceGetPcieThroughput, gpu.device, direction, &raw);
        value = raw * kibibyte;
        return result;
      });
    };
    pcie(GpuMetric::pcie_sent, nvml::pcie_sent);
    pcie(GpuMetric::pcie_received, nvml::pcie_received);
    read_nvlink_counter(gpu, 0, GpuMetric::nvlink_sent, nvml::field_nvlink_sent_kib);
    read_nvlink_counter(gpu, 1, GpuMetric::nvlink_received, nvml::field_nvlink_received_kib);
  }
  for (const auto& [metric, reading] : gpu.gpm.read(clock_.now_s())) keep(gpu, metric, reading);
}

// Appends the processes that an NVML function lists. Returns false if the function fails. size: the
// length of the last list.
bool add_processes(nvml::ListProcesses function, nvml::Device device, std::size_t row_bytes,
                   bool graphics, std::size_t& size, std::vector<GpuProcess>& all) {
  const auto found = running_processes(function, device, row_bytes, size);
  if (!found) return false;
  for (const nvml::ProcessInfo& one : *found) {
    GpuProcess process{.pid = static_cast<int>(one.pid), .graphics = graphics};
    if (one.used_memory != nvml::memory_not_available) process.memory_bytes = one.used_memory;
    all.push_back(process);
  }
  return true;
}

// Lists the processes of the whole GPU and of its MIG instances. If a GPU is split by MIG, NVML
// lists the processes of the whole GPU to root only.
void NvmlReader::list_processes(Gpu& gpu) const {
  gpu.processes.clear();
  gpu.processes_known = false;
  const auto add = [&](nvml::Device device, bool graphics, nvml::ListProcesses newer,
                       nvml::ListProcesses oldest, std::size_t& size) {
    return newer ? add_processes(newer, device, nvml::process_info_v2_bytes, graphics, size,
                                 gpu.processes)
                 : add_processes(oldest, device, nvml::process_info_v1_bytes, graphics, size,
                                 gpu.processes);
  };
  // Uses the newest version of the function that the driver has.
  const auto newer = [](nvml::ListProcesses third, nvml::ListProcesses second) {
    return third ? third : second;
  };
  const auto add_all = [&](nvml::Device device) {
    if (add(device, false,
            newer(api_.nvmlDeviceGetComputeRunningProcesses_v3,
                  api_.nvmlDeviceGetComputeRunningProcesses_v2),
            api_.nvmlDeviceGetComputeRunningProcesses, gpu.list_sizes.computing))
      gpu.processes_known = true;
    add(device, false, api_.nvmlDeviceGetMPSComputeRunningProcesses_v3, nullptr,
        gpu.list_sizes.by_mps);
    add(device, true,
        newer(api_.nvmlDeviceGetGraphicsRunningProcesses_v3,
              api_.nvmlDeviceGetGraphicsRunningProcesses_v2),
        api_.nvmlDeviceGetGraphicsRunningProcesses, gpu.list_sizes.drawing);
  };
  add_all(gpu.device);
  for (const nvml::Device instance : gpu.mig_instances) add_all(instance);
  std::stable_sort(gpu.processes.begin(), gpu.processes.end(),
                   [](const GpuProcess& a, const GpuProcess& b) { return a.pid < b.pid; });
  // A process that both computes and draws is in two lists.
  const auto same = [](const GpuProcess& a, const GpuProcess& b) { return a.pid == b.pid; };
  gpu.processes.erase(std::unique(gpu.processes.begin(), gpu.processes.end(), same),
                      gpu.processes.end());
}

void NvmlReader::read_processes(Gpu& gpu, GpuSample& sample) const {
  const Reading& memory = sample[GpuMetric::memory_used];
  const double used = memory.value;
  const bool may_rest = gpu.processes_known && memory.state == ReadingState::measured &&
                        std::abs(used - gpu.listed_at_bytes) <= new_process_bytes;
  if (!may_rest || gpu.list_turn.is_due(clock_.now_s())) {
    gpu.list_turn.begin(now());
    list_processes(gpu);
    gpu.list_turn.end(now(), states_.size());
    gpu.listed_at_bytes = used;
  }
  sample.processes = gpu.processes;
  sample.processes_known = gpu.processes_known;
}

// Reads the newest row of each process. A process without a row has no sample, which differs from
// 0.
void NvmlReader::read_process_loads(Gpu& gpu) const {
  const double now_us = clock_.wall_s() * 1e6;
  const auto since =
      static_cast<unsigned long long>(std::max(0.0, now_us - oldest_process_row_s * 1e6));
  const auto call = api_.nvmlDeviceGetProcessUtilization;
  gpu.loads.clear();
  unsigned count = 0;
  // A few more rows than last time usually suffice. If not, the driver reports the required number.
  std::vector<nvml::ProcessUtilization> rows(gpu.load_rows > 0 ? gpu.load_rows + 8 : 0);
  nvml::Return result = nvml::insufficient_size;
  for (int attempt = 0; result == nvml::insufficient_size && attempt < 3; ++attempt) {
    count = static_cast<unsigned>(rows.size());
    result = nvml::ask(call, gpu.device, rows.empty() ? nullptr : rows.data(), &count, since);
    if (result == nvml::insufficient_size) rows.resize(count + (attempt > 0 ? 8 : 0));
  }
  gpu.load_rows = result == nvml::success ? count : 0;
  if (result != nvml::success) return;
  rows.resize(std::min<std::size_t>(count, rows.size()));
  std::map<unsigned, unsigned long long> newest;
  for (const nvml::ProcessUtilization& row : rows) {
    if (row.timestamp_us < since || row.sm > 100 || row.timestamp_us < newest[row.pid]) continue;
    newest[row.pid] = row.timestamp_us;
    gpu.loads[row.pid] = {static_cast<double>(row.sm), clock_.now_s()};
  }
}

void NvmlReader::add_process_loads(Gpu& gpu, GpuSample& sample) const {
  if (sample.processes.empty()) return;
  if (gpu.load_turn.is_due(clock_.now_s())) {
    gpu.load_turn.begin(now());
    read_process_loads(gpu);
    gpu.load_turn.end(now(), states_.size());
  }
  for (GpuProcess& process : sample.processes) {
    const auto load = gpu.loads.find(static_cast<unsigned>(process.pid));
    if (load == gpu.loads.end()) continue;
    process.sm_percent = load->second.sm_percent;
    process.sm_at_s = load->second.at_s;
  }
}

GpuSample NvmlReader::read(std::size_t position) {
  Gpu& gpu = states_.at(position);
  GpuSample sample;
  char uuid[nvml::text_length] = {};
  const nvml::Return answer =
      gpu.device ? nvml::ask(api_.nvmlDeviceGetUUID, gpu.device, uuid, unsigned{sizeof uuid})
                 : gpu.answer;
  if (answer != nvml::success) {
    sample.fault = library_.error_text(answer);
    for (Reading& reading : sample.readings) reading.why = sample.fault;
    return sample;
  }
  constexpr double ask_instances_s = 10;
  if (const double now_s = clock_.now_s(); now_s >= gpu.mig_due_s) {
    gpu.mig_instances = mig_instances(api_, gpu.device);
    gpu.mig_due_s = now_s + ask_instances_s;
  }
  read_load(gpu);
  read_board(gpu);
  read_traffic(gpu);
  for (std::size_t i = 0; i < metric_count; ++i) sample.readings[i] = gpu.asked[i].last;
  read_processes(gpu, sample);
  add_process_loads(gpu, sample);
  return sample;
}

}  // namespace

namespace {

double cpu_s(clockid_t clock) {
  timespec used{};
  clock_gettime(clock, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

}  // namespace

double thread_cpu_s() { return cpu_s(CLOCK_THREAD_CPUTIME_ID); }
double process_cpu_s() { return cpu_s(CLOCK_PROCESS_CPUTIME_ID); }

std::unique_ptr<GpuReader> make_nvml_reader(Clock& clock, double (*cpu_s)()) {
  return std::make_unique<NvmlReader>(clock, cpu_s);
}

}  // namespace lockstep
