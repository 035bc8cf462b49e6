// A stand-in for libnvidia-ml.so.1 that shows the GPUs of a JSON file, named by FAKE_NVML:
//   {"driver": "580.65.06", "cuda": 13000, "init": 0, "gpus": [
//     {"uuid": "GPU-…", "name": "Tesla T4", "domain": 0, "bus": 101, "device": 0,
//      "memory": 16106127360, "used": 1048576, "major": 7, "minor": 5, "utilization": 40,
//      "nvlink_mbps": 25000, "nvlinks": ["switch", 102, null], "pcie": [5, 16],
//      "minor_number": 0, "power_limit": 70000, "compute_mode": 0, "nvlink_version": 6,
//      "power": 65000, "energy": 1000, "temperature": 60, "clock": 1980, "max_clock": 1980,
//      "memory_clock": 3201, "reasons": 4, "pcie_kib": [1024, 2048], "pcie_now": [5, 16],
//      "nvlink_kib": [0, 0], "gpm": {"2": 93.5}, "processes": [{"pid": 1, "memory": 1048576}],
//      "process_utilization": [{"pid": 1, "sm": 40, "age_s": 0.5}],
//      "answers": {"nvmlDeviceGetPowerUsage": 999}, "slow_ms": {"nvmlDeviceGetPcieThroughput": 20},
//      "busy_ms": {"nvmlDeviceGetTotalEnergyConsumption": 7},
//      "error": 0, "mig": [{"uuid": "MIG-…", …}]}],
//    "topology": {"0-1": 50}}
// "nvlinks" holds the other end of each: a switch, the bus of a GPU, or null for one that is down.
// "nvlink_kib" are counters; "gpm" has values by metric id; a process with "graphics" draws, one
// with "mps" computes through MPS. "answers" has return codes, "slow_ms" times and "busy_ms" times
// of a core by function. "init" and "error" are NVML's return codes; what a GPU lacks it does not
// support. "topology" has nvmlGpuTopologyLevel_t by pairs. With FAKE_NVML_OLD the library has the
// functions of a driver of 2016 only.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "devices/nvml_api.h"

namespace nvml = lockstep::nvml;
using nlohmann::json;

struct OpaqueGpu {
  json facts;
  std::vector<OpaqueGpu> instances;
};

namespace {

json machine;
std::vector<OpaqueGpu> gpus;

OpaqueGpu& of(nvml::Device device) { return *reinterpret_cast<OpaqueGpu*>(device); }
nvml::Device handle(OpaqueGpu& gpu) { return reinterpret_cast<nvml::Device>(&gpu); }

nvml::Return give(const std::string& text, char* out, unsigned size) {
  if (text.size() + 1 > size) return 7;  // NVML_ERROR_INSUFFICIENT_SIZE
  std::memcpy(out, text.c_str(), text.size() + 1);
  return nvml::success;
}

// What a function answers by the file, after the time that it takes.
nvml::Return answer_of(nvml::Device device, const char* function) {
  const json& facts = of(device).facts;
  if (facts.contains("slow_ms")) {
    const int slow_ms = facts["slow_ms"].value(function, 0);
    if (slow_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(slow_ms));
  }
  if (facts.contains("busy_ms")) {
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::milliseconds(facts["busy_ms"].value(function, 0));
    while (std::chrono::steady_clock::now() < end) {
    }
  }
  return facts.contains("answers") ? facts["answers"].value(function, nvml::success)
                                   : nvml::success;
}

// An element of a fact that is a list.
nvml::Return give_element(nvml::Device device, const char* fact, std::size_t index, unsigned* out) {
  const json& facts = of(device).facts;
  if (!facts.contains(fact)) return nvml::not_supported;
  *out = facts[fact].at(index).get<unsigned>();
  return nvml::success;
}

nvml::Return give_processes(nvml::Device device, const char* kind, unsigned* count,
                            nvml::ProcessInfo* out) {
  const json& facts = of(device).facts;
  if (!facts.contains("processes")) return nvml::not_supported;
  unsigned found = 0;
  for (const json& process : facts["processes"]) {
    const bool graphics = process.value("graphics", false), mps = process.value("mps", false);
    if (std::string(graphics ? "graphics" : mps ? "mps" : "compute") != kind) continue;
    if (found < *count && out)
      out[found] = {process["pid"].get<unsigned>(),
                    process.value("memory", nvml::memory_not_available), 0, 0};
    ++found;
  }
  const bool fits = found <= *count;
  *count = found;
  return fits ? nvml::success : nvml::insufficient_size;
}

template <class Number>
nvml::Return give_number(nvml::Device device, const char* fact, Number* out,
                         const char* function = __builtin_FUNCTION()) {
  const json& facts = of(device).facts;
  if (const nvml::Return answer = answer_of(device, function); answer != nvml::success)
    return answer;
  if (!facts.contains(fact)) return nvml::not_supported;
  *out = facts[fact].get<Number>();
  return nvml::success;
}

OpaqueGpu from(const json& facts) {
  OpaqueGpu gpu{facts, {}};
  for (const json& part : facts.value("mig", json::array())) gpu.instances.push_back(from(part));
  return gpu;
}

void read_machine() {
  std::ifstream file(std::getenv("FAKE_NVML"));
  machine = json::parse(file);
  gpus.clear();
  for (const json& facts : machine.value("gpus", json::array())) gpus.push_back(from(facts));
}

}  // namespace

extern "C" {

nvml::Return nvmlInit_v2() {
  if (!std::getenv("FAKE_NVML")) return nvml::driver_not_loaded;
  read_machine();
  return machine.value("init", nvml::success);
}

nvml::Return nvmlShutdown() {
  gpus.clear();
  return nvml::success;
}

const char* nvmlErrorString(nvml::Return result) {
  switch (result) {
    case nvml::driver_not_loaded:
      return "Driver Not Loaded";
    case nvml::library_mismatch:
      return "Driver/library version mismatch";
    case 15:
      return "GPU is lost";
    default:
      return "Unknown Error";
  }
}

nvml::Return nvmlSystemGetDriverVersion(char* text, unsigned size) {
  return give(machine.value("driver", "580.65.06"), text, size);
}

nvml::Return nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = machine.value("cuda", 13000);
  return nvml::success;
}

nvml::Return nvmlDeviceGetCount_v2(unsigned* count) {
  read_machine();  // a test may have changed it
  *count = static_cast<unsigned>(gpus.size());
  return nvml::success;
}

nvml::Return nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml::Device* device) {
  if (index >= gpus.size()) return 2;  // NVML_ERROR_INVALID_ARGUMENT
  *device = handle(gpus[index]);
  return gpus[index].facts.value("error", nvml::success);
}

nvml::Return nvmlDeviceGetHandleByUUID(const char* uuid, nvml::Device* device) {
  for (OpaqueGpu& gpu : gpus) {
    if (gpu.facts.value("uuid", "") == uuid) {
      *device = handle(gpu);
      return nvml::success;
    }
  }
  return nvml::not_found;
}

nvml::Return nvmlDeviceGetUUID(nvml::Device device, char* text, unsigned size) {
  return give(of(device).facts.value("uuid", ""), text, size);
}

nvml::Return nvmlDeviceGetName(nvml::Device device, char* text, unsigned size) {
  return give(of(device).facts.value("name", ""), text, size);
}

nvml::Return nvmlDeviceGetPciInfo_v3(nvml::Device device, nvml::PciInfo* pci) {
  const json& facts = of(device).facts;
  pci->domain = facts.value("domain", 0u);
  pci->bus = facts.value("bus", 0u);
  pci->device = facts.value("device", 0u);
  return nvml::success;
}

nvml::Return nvmlDeviceGetMemoryInfo(nvml::Device device, nvml::Memory* memory) {
  const json& facts = of(device).facts;
  *memory = {facts.value("memory", 0ull), 0, facts.value("used", 0ull)};
  return nvml::success;
}

#ifndef FAKE_NVML_OLD
nvml::Return nvmlDeviceGetMemoryInfo_v2(nvml::Device device, nvml::MemoryV2* memory) {
  if (memory->version != nvml::memory_v2_version)
    return 25;  // NVML_ERROR_ARGUMENT_VERSION_MISMATCH
  const json& facts = of(device).facts;
  if (!facts.contains("memory")) return nvml::not_supported;
  memory->total = facts.value("memory", 0ull);
  memory->used = facts.value("used", 0ull);
  return nvml::success;
}
#endif

nvml::Return nvmlDeviceGetCudaComputeCapability(nvml::Device device, int* major, int* minor) {
  *major = of(device).facts.value("major", 0);
  *minor = of(device).facts.value("minor", 0);
  return nvml::success;
}

nvml::Return nvmlDeviceGetUtilizationRates(nvml::Device device, nvml::Utilization* rates) {
  const json& facts = of(device).facts;
  if (const nvml::Return answer = answer_of(device, "nvmlDeviceGetUtilizationRates")) return answer;
  if (!facts.contains("utilization")) return nvml::not_supported;
  rates->gpu = facts["utilization"].get<unsigned>();
  return nvml::success;
}

nvml::Return nvmlDeviceGetNvLinkState(nvml::Device device, unsigned link, unsigned* active) {
  const json links = of(device).facts.value("nvlinks", json::array());
  if (link >= links.size()) return nvml::not_supported;
  *active = links[link].is_null() ? 0 : 1;
  return nvml::success;
}

nvml::Return nvmlDeviceGetNvLinkRemoteDeviceType(nvml::Device device, unsigned link,
                                                 unsigned* type) {
  *type = of(device).facts.at("nvlinks")[link] == "switch" ? nvml::nvlink_to_switch
                                                           : nvml::nvlink_to_gpu;
  return nvml::success;
}

nvml::Return nvmlDeviceGetNvLinkRemotePciInfo_v2(nvml::Device device, unsigned link,
                                                 nvml::PciInfo* pci) {
  pci->domain = pci->device = 0;
  pci->bus = of(device).facts.at("nvlinks")[link].get<unsigned>();
  return nvml::success;
}

#ifndef FAKE_NVML_OLD
nvml::Return nvmlDeviceGetFieldValues(nvml::Device device, int count, nvml::FieldValue* values) {
  const json& facts = of(device).facts;
  for (int i = 0; i < count; ++i) {
    const bool sent = values[i].field == nvml::field_nvlink_sent_kib;
    if ((sent || values[i].field == nvml::field_nvlink_received_kib) &&
        facts.contains("nvlink_kib")) {
      values[i].result = nvml::success;
      values[i].type = nvml::value_is_unsigned_long_long;
      values[i].value.as_unsigned_long_long =
          facts["nvlink_kib"].at(sent ? 0 : 1).get<unsigned long long>();
      continue;
    }
    const bool known = values[i].field == nvml::field_nvlink_speed && facts.contains("nvlink_mbps");
    values[i].result = known ? nvml::success : nvml::not_supported;
    values[i].type = nvml::value_is_unsigned;
    if (known) values[i].value.as_unsigned = facts["nvlink_mbps"].get<unsigned>();
  }
  return nvml::success;
}
#endif

nvml::Return nvmlDeviceGetMaxPcieLinkGeneration(nvml::Device device, unsigned* generation) {
  const json& facts = of(device).facts;
  if (!facts.contains("pcie")) return nvml::not_supported;
  *generation = facts["pcie"][0].get<unsigned>();
  return nvml::success;
}

nvml::Return nvmlDeviceGetMaxPcieLinkWidth(nvml::Device device, unsigned* lanes) {
  const json& facts = of(device).facts;
  if (!facts.contains("pcie")) return nvml::not_supported;
  *lanes = facts["pcie"][1].get<unsigned>();
  return nvml::success;
}

nvml::Return nvmlDeviceGetMinorNumber(nvml::Device device, unsigned* minor) {
  return give_number(device, "minor_number", minor);
}

nvml::Return nvmlDeviceGetEnforcedPowerLimit(nvml::Device device, unsigned* milliwatts) {
  return give_number(device, "power_limit", milliwatts);
}

nvml::Return nvmlDeviceGetComputeMode(nvml::Device device, int* mode) {
  return give_number(device, "compute_mode", mode);
}

nvml::Return nvmlDeviceGetTopologyCommonAncestor(nvml::Device a, nvml::Device b, int* level) {
  const json levels = machine.value("topology", json::object());
  auto number = [](nvml::Device device) { return &of(device) - gpus.data(); };
  const std::string key = std::to_string(number(a)) + "-" + std::to_string(number(b));
  if (!levels.contains(key)) return nvml::not_supported;
  *level = levels[key].get<int>();
  return nvml::success;
}

nvml::Return nvmlDeviceGetPowerUsage(nvml::Device device, unsigned* milliwatts) {
  return give_number(device, "power", milliwatts);
}

nvml::Return nvmlDeviceGetTemperature(nvml::Device device, unsigned, unsigned* degrees) {
  return give_number(device, "temperature", degrees);
}

nvml::Return nvmlDeviceGetClockInfo(nvml::Device device, unsigned type, unsigned* mhz) {
  return give_number(device, type == nvml::clock_of_memory ? "memory_clock" : "clock", mhz);
}

nvml::Return nvmlDeviceGetMaxClockInfo(nvml::Device device, unsigned, unsigned* mhz) {
  return give_number(device, "max_clock", mhz);
}

nvml::Return nvmlDeviceGetCurrentClocksThrottleReasons(nvml::Device device,
                                                       unsigned long long* reasons) {
  return give_number(device, "reasons", reasons);
}

nvml::Return nvmlDeviceGetPcieThroughput(nvml::Device device, unsigned direction, unsigned* kib) {
  answer_of(device, "nvmlDeviceGetPcieThroughput");
  return give_element(device, "pcie_kib", direction, kib);
}

nvml::Return nvmlDeviceGetCurrPcieLinkGeneration(nvml::Device device, unsigned* generation) {
  return give_element(device, "pcie_now", 0, generation);
}

nvml::Return nvmlDeviceGetCurrPcieLinkWidth(nvml::Device device, unsigned* lanes) {
  return give_element(device, "pcie_now", 1, lanes);
}

nvml::Return nvmlDeviceGetComputeRunningProcesses_v2(nvml::Device device, unsigned* count,
                                                     nvml::ProcessInfo* processes) {
  return give_processes(device, "compute", count, processes);
}

#ifndef FAKE_NVML_OLD
nvml::Return nvmlDeviceGetTotalEnergyConsumption(nvml::Device device, unsigned long long* mj) {
  return give_number(device, "energy", mj);
}

nvml::Return nvmlDeviceGetCurrentClocksEventReasons(nvml::Device device,
                                                    unsigned long long* reasons) {
  return give_number(device, "reasons", reasons);
}

nvml::Return nvmlDeviceGetComputeRunningProcesses_v3(nvml::Device device, unsigned* count,
                                                     nvml::ProcessInfo* processes) {
  return give_processes(device, "compute", count, processes);
}

nvml::Return nvmlDeviceGetMPSComputeRunningProcesses_v3(nvml::Device device, unsigned* count,
                                                        nvml::ProcessInfo* processes) {
  return give_processes(device, "mps", count, processes);
}

nvml::Return nvmlDeviceGetGraphicsRunningProcesses_v3(nvml::Device device, unsigned* count,
                                                      nvml::ProcessInfo* processes) {
  return give_processes(device, "graphics", count, processes);
}

nvml::Return nvmlDeviceGetProcessUtilization(nvml::Device device, nvml::ProcessUtilization* rows,
                                             unsigned* count, unsigned long long) {
  const json all = of(device).facts.value("process_utilization", json::array());
  if (all.empty()) return nvml::not_found;
  const bool fits = rows && *count >= all.size();
  *count = static_cast<unsigned>(all.size());
  if (!fits) return nvml::insufficient_size;
  const double now_us = static_cast<double>(std::chrono::duration_cast<std::chrono::microseconds>(
                                                std::chrono::system_clock::now().time_since_epoch())
                                                .count());
  for (std::size_t i = 0; i < all.size(); ++i)
    rows[i] = {all[i]["pid"].get<unsigned>(),
               static_cast<unsigned long long>(now_us - 1e6 * all[i].value("age_s", 0.0)),
               all[i]["sm"].get<unsigned>(),
               0,
               0,
               0};
  return nvml::success;
}

nvml::Return nvmlGpmQueryDeviceSupport(nvml::Device device, nvml::GpmSupport* support) {
  support->supported = of(device).facts.contains("gpm") ? 1 : 0;
  return nvml::success;
}

nvml::Return nvmlGpmSampleAlloc(nvml::GpmSample* sample) {
  *sample = reinterpret_cast<nvml::GpmSample>(new OpaqueGpu*(nullptr));
  return nvml::success;
}

nvml::Return nvmlGpmSampleFree(nvml::GpmSample sample) {
  delete reinterpret_cast<OpaqueGpu**>(sample);
  return nvml::success;
}

nvml::Return nvmlGpmSampleGet(nvml::Device device, nvml::GpmSample sample) {
  *reinterpret_cast<OpaqueGpu**>(sample) = &of(device);
  return answer_of(device, "nvmlGpmSampleGet");
}

// Values of the second sample's GPU; both must be of one.
nvml::Return nvmlGpmMetricsGet(nvml::GpmMetrics* metrics) {
  OpaqueGpu* const before = *reinterpret_cast<OpaqueGpu**>(metrics->before);
  OpaqueGpu* const after = *reinterpret_cast<OpaqueGpu**>(metrics->after);
  if (metrics->version != 1 || !after || before != after) return 2;  // NVML_ERROR_INVALID_ARGUMENT
  const json& values = after->facts.at("gpm");
  for (unsigned i = 0; i < metrics->count; ++i) {
    nvml::GpmMetric& one = metrics->metrics[i];
    const std::string id = std::to_string(one.metric);
    one.result = values.contains(id) ? nvml::success : nvml::not_supported;
    if (values.contains(id)) one.value = values[id].get<double>();
  }
  return nvml::success;
}

nvml::Return nvmlDeviceGetNvLinkVersion(nvml::Device device, unsigned, unsigned* version) {
  return give_number(device, "nvlink_version", version);
}

nvml::Return nvmlDeviceGetMigMode(nvml::Device device, unsigned* mode, unsigned* pending) {
  *mode = *pending = of(device).facts.contains("mig") ? 1 : 0;
  return nvml::success;
}

nvml::Return nvmlDeviceGetMaxMigDeviceCount(nvml::Device, unsigned* count) {
  *count = 7;
  return nvml::success;
}

nvml::Return nvmlDeviceGetMigDeviceHandleByIndex(nvml::Device device, unsigned index,
                                                 nvml::Device* instance) {
  OpaqueGpu& gpu = of(device);
  if (index >= gpu.instances.size()) return nvml::not_found;
  *instance = handle(gpu.instances[index]);
  return nvml::success;
}
#endif
}
