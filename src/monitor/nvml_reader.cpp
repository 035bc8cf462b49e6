// GpuReader over NVML.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "devices/nvml_library.h"
#include "devices/nvml_links.h"
#include "monitor/gpm.h"
#include "monitor/gpu_reader.h"

namespace lockstep {
namespace {

constexpr double kibibyte = 1024;
// A call that takes longer than this is made again only after a hundred times as long.
constexpr double slow_call_s = 0.002;
constexpr double rest_after_slow_call = 100;
// Of a process's utilisation: rows that are older say nothing of now.
constexpr double oldest_process_row_s = 2;

// What was read of one metric, and when to ask again.
struct Asked {
  Reading last;
  double due_s = 0;
  bool never = false;  // the GPU or the driver does not tell: no use asking again
};

struct Counter {  // grows; a rate takes two readings
  double value = 0, at_s = 0;
  bool known = false;
};

struct Gpu {
  nvml::Device device = nullptr;        // null: it did not answer when it was looked for
  nvml::Return answer = nvml::success;  // then
  std::array<Asked, metric_count> asked;
  Gpm gpm;
  std::array<Counter, 2> nvlink_counters;
};

class NvmlReader final : public GpuReader {
 public:
  explicit NvmlReader(Clock& clock) : clock_(clock) {
    unsigned count = 0;
    if (!library_.started() || api_.nvmlDeviceGetCount_v2(&count) != nvml::success) return;
    for (unsigned i = 0; i < count; ++i) {
      nvml::Device device = nullptr;
      const nvml::Return result = api_.nvmlDeviceGetHandleByIndex_v2(i, &device);
      if (result == nvml::no_permission) continue;  // another container's
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
  void take(Gpu& gpu, Metric metric, const char* source, Read read);
  void read_load(Gpu& gpu);
  void read_board(Gpu& gpu);
  void read_traffic(Gpu& gpu);
  void read_nvlink_counter(Gpu& gpu, std::size_t which, Metric metric, unsigned field);
  void keep(Gpu& gpu, Metric metric, const Reading& reading) {
    gpu.asked[static_cast<std::size_t>(metric)].last = reading;
  }
  void read_processes(Gpu& gpu, GpuSample& sample) const;
  void read_process_load(Gpu& gpu, GpuSample& sample) const;

  Clock& clock_;
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

// read(double& value) gives NVML's answer.
template <class Read>
void NvmlReader::take(Gpu& gpu, Metric metric, const char* source, Read read) {
  Asked& asked = gpu.asked[static_cast<std::size_t>(metric)];
  const double before = clock_.now_s();
  if (asked.never || before < asked.due_s) return;
  double value = 0;
  const nvml::Return result = read(value);
  const double after = clock_.now_s();
  asked.last = {.at_s = after, .source = source};
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
  if (after - before > slow_call_s) asked.due_s = after + rest_after_slow_call * (after - before);
}

void NvmlReader::read_load(Gpu& gpu) {
  const nvml::Device device = gpu.device;
  take(gpu, Metric::gpu_busy, "NVML utilization", [&](double& value) {
    nvml::Utilization rates{};
    const nvml::Return result = nvml::ask(api_.nvmlDeviceGetUtilizationRates, device, &rates);
    value = rates.gpu;
    return result;
  });
  nvml::MemoryV2 memory{.version = nvml::memory_v2_version};
  nvml::Memory older{};
  nvml::Return result = nvml::ask(api_.nvmlDeviceGetMemoryInfo_v2, device, &memory);
  if (result != nvml::success) {
    result = nvml::ask(api_.nvmlDeviceGetMemoryInfo, device, &older);
    memory.used = older.used;
    memory.total = older.total;
  }
  take(gpu, Metric::memory_used, "NVML memory", [&](double& value) {
    value = static_cast<double>(memory.used);
    return result;
  });
  take(gpu, Metric::memory_total, "NVML memory", [&](double& value) {
    value = static_cast<double>(memory.total);
    return result;
  });
}

void NvmlReader::read_board(Gpu& gpu) {
  const nvml::Device device = gpu.device;
  const auto number = [&](Metric metric, const char* source, double scale, auto function,
                          auto... arguments) {
    take(gpu, metric, source, [&](double& value) {
      unsigned raw = 0;
      const nvml::Return result = nvml::ask(function, device, arguments..., &raw);
      value = raw * scale;
      return result;
    });
  };
  const auto long_number = [&](Metric metric, const char* source, double scale, auto function) {
    take(gpu, metric, source, [&](double& value) {
      unsigned long long raw = 0;
      const nvml::Return result = nvml::ask(function, device, &raw);
      value = static_cast<double>(raw) * scale;
      return result;
    });
  };
  number(Metric::power, "NVML power", 1e-3, api_.nvmlDeviceGetPowerUsage);
  number(Metric::power_limit, "NVML power", 1e-3, api_.nvmlDeviceGetEnforcedPowerLimit);
  long_number(Metric::energy, "NVML energy", 1e-3, api_.nvmlDeviceGetTotalEnergyConsumption);
  number(Metric::temperature, "NVML temperature", 1, api_.nvmlDeviceGetTemperature,
         nvml::temperature_of_chip);
  number(Metric::sm_clock, "NVML clock", 1, api_.nvmlDeviceGetClockInfo, nvml::clock_of_sms);
  number(Metric::sm_clock_most, "NVML clock", 1, api_.nvmlDeviceGetMaxClockInfo,
         nvml::clock_of_sms);
  number(Metric::memory_clock, "NVML clock", 1, api_.nvmlDeviceGetClockInfo, nvml::clock_of_memory);
  long_number(Metric::clock_limits, "NVML clock reasons", 1,
              api_.nvmlDeviceGetCurrentClocksEventReasons
                  ? api_.nvmlDeviceGetCurrentClocksEventReasons
                  : api_.nvmlDeviceGetCurrentClocksThrottleReasons);
  number(Metric::pcie_generation, "NVML PCIe", 1, api_.nvmlDeviceGetCurrPcieLinkGeneration);
  number(Metric::pcie_lanes, "NVML PCIe", 1, api_.nvmlDeviceGetCurrPcieLinkWidth);
}

void NvmlReader::read_nvlink_counter(Gpu& gpu, std::size_t which, Metric metric, unsigned field) {
  Counter& counter = gpu.nvlink_counters[which];
  const Counter before = counter;
  counter.known = false;
  take(gpu, metric, "NVML NVLink counters", [&](double& value) {
    nvml::FieldValue answer{.field = field, .scope = nvml::all_nvlinks};
    nvml::Return result = nvml::ask(api_.nvmlDeviceGetFieldValues, gpu.device, 1, &answer);
    if (result == nvml::success) result = answer.result;
    if (result == nvml::success && answer.type != nvml::value_is_unsigned_long_long)
      result = nvml::not_supported;
    counter = {.value = static_cast<double>(answer.value.as_unsigned_long_long) * kibibyte,
               .at_s = clock_.now_s(),
               .known = result == nvml::success};
    // NaN: the first reading, and a counter that began anew.
    const bool rate = before.known && counter.at_s > before.at_s && counter.value >= before.value;
    value = rate ? (counter.value - before.value) / (counter.at_s - before.at_s) : NAN;
    return result;
  });
  if (before.known && counter.known)
    gpu.asked[static_cast<std::size_t>(metric)].last.period_s = counter.at_s - before.at_s;
}

void NvmlReader::read_traffic(Gpu& gpu) {
  if (!gpu.gpm.supported()) {
    const auto pcie = [&](Metric metric, unsigned direction) {
      take(gpu, metric, "NVML PCIe throughput", [&](double& value) {
        unsigned raw = 0;
        const nvml::Return result =
            nvml::ask(api_.nvmlDeviceGetPcieThroughput, gpu.device, direction, &raw);
        value = raw * kibibyte;
        return result;
      });
    };
    pcie(Metric::pcie_sent, nvml::pcie_sent);
    pcie(Metric::pcie_received, nvml::pcie_received);
    read_nvlink_counter(gpu, 0, Metric::nvlink_sent, nvml::field_nvlink_sent_kib);
    read_nvlink_counter(gpu, 1, Metric::nvlink_received, nvml::field_nvlink_received_kib);
  }
  for (const auto& [metric, reading] : gpu.gpm.read(clock_.now_s())) keep(gpu, metric, reading);
}

void NvmlReader::read_processes(Gpu& gpu, GpuSample& sample) const {
  using List = nvml::Return (*)(nvml::Device, unsigned*, nvml::ProcessInfo*);
  const auto take_all = [&](List newer, List older, bool graphics) {
    const List list = newer ? newer : older;
    // It may grow between the two calls.
    unsigned count = 0;
    nvml::Return result =
        nvml::ask(list, gpu.device, &count, static_cast<nvml::ProcessInfo*>(nullptr));
    std::vector<nvml::ProcessInfo> found;
    for (int attempt = 0; result == nvml::insufficient_size && attempt < 3; ++attempt) {
      count += 8;
      found.resize(count);
      result = list(gpu.device, &count, found.data());
    }
    if (result != nvml::success) return false;
    found.resize(std::min<std::size_t>(count, found.size()));
    for (const nvml::ProcessInfo& one : found) {
      GpuProcess process{.pid = static_cast<int>(one.pid), .graphics = graphics};
      if (one.used_memory != nvml::memory_not_available) process.memory_bytes = one.used_memory;
      sample.processes.push_back(process);
    }
    return true;
  };
  sample.processes_known = take_all(api_.nvmlDeviceGetComputeRunningProcesses_v3,
                                    api_.nvmlDeviceGetComputeRunningProcesses_v2, false);
  take_all(api_.nvmlDeviceGetGraphicsRunningProcesses_v3,
           api_.nvmlDeviceGetGraphicsRunningProcesses_v2, true);
  std::stable_sort(sample.processes.begin(), sample.processes.end(),
                   [](const GpuProcess& a, const GpuProcess& b) { return a.pid < b.pid; });
  // One that computes and draws is in both lists.
  const auto same = [](const GpuProcess& a, const GpuProcess& b) { return a.pid == b.pid; };
  sample.processes.erase(std::unique(sample.processes.begin(), sample.processes.end(), same),
                         sample.processes.end());
}

// The newest row of each process; a process without a row has no sample, which is not 0.
void NvmlReader::read_process_load(Gpu& gpu, GpuSample& sample) const {
  const double now_us = clock_.wall_s() * 1e6;
  const auto since =
      static_cast<unsigned long long>(std::max(0.0, now_us - oldest_process_row_s * 1e6));
  unsigned count = 0;
  const auto call = api_.nvmlDeviceGetProcessUtilization;
  if (nvml::ask(call, gpu.device, static_cast<nvml::ProcessUtilization*>(nullptr), &count, since) !=
          nvml::insufficient_size ||
      count == 0)
    return;
  std::vector<nvml::ProcessUtilization> rows(count);
  if (call(gpu.device, rows.data(), &count, since) != nvml::success) return;
  rows.resize(std::min<std::size_t>(count, rows.size()));
  std::map<unsigned, nvml::ProcessUtilization> newest;
  for (const nvml::ProcessUtilization& row : rows) {
    nvml::ProcessUtilization& kept = newest.emplace(row.pid, row).first->second;
    if (row.timestamp_us > kept.timestamp_us) kept = row;
  }
  for (GpuProcess& process : sample.processes) {
    const auto row = newest.find(static_cast<unsigned>(process.pid));
    if (row != newest.end() && row->second.timestamp_us >= since && row->second.sm <= 100)
      process.sm_percent = row->second.sm;
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
  read_load(gpu);
  read_board(gpu);
  read_traffic(gpu);
  for (std::size_t i = 0; i < metric_count; ++i) sample.readings[i] = gpu.asked[i].last;
  read_processes(gpu, sample);
  if (!sample.processes.empty()) read_process_load(gpu, sample);
  return sample;
}

}  // namespace

std::unique_ptr<GpuReader> make_nvml_reader(Clock& clock) {
  return std::make_unique<NvmlReader>(clock);
}

}  // namespace lockstep
