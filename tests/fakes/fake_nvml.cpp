// A stand-in for libnvidia-ml.so.1 that shows the GPUs of the script that FAKE_NVML names
// (nvml_script.h). Its time is that since the first nvmlInit_v2, or what the file says that
// FAKE_NVML_CLOCK names, in seconds. Which functions a library of it has depends on the driver that
// it stands for (nvml_functions.txt). A program is on a GPU while it lives if the folder
// FAKE_NVML_TENANTS has a file with its number as name and "UUID BYTES" in it; "nobody" is memory
// that belongs to no process. Each adds the fact "tenant_utilization" to the GPU's utilization.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/devices/nvml/nvml_api.h"
#include "fakes/nvml_script.h"

namespace nvml = lockstep::nvml;
using lockstep::testing::NvmlScript;
using nlohmann::json;

struct OpaqueGpu {
  json facts;
  std::vector<OpaqueGpu> instances;
};

namespace {

constexpr nvml::Return invalid_argument = 2, version_mismatch = 25, gpu_is_lost = 15,
                       unknown_error = 999;

std::mutex mutex;  // of all below; not held while a function takes its time
NvmlScript script;
std::vector<OpaqueGpu> gpus;
int users = 0;                   // of the library: nvmlInit_v2 less nvmlShutdown
std::atomic<int> under_way = 0;  // calls
std::map<std::pair<std::string, std::string>, int> calls;  // by UUID and function

OpaqueGpu& of(nvml::Device device) { return *reinterpret_cast<OpaqueGpu*>(device); }
nvml::Device handle(OpaqueGpu& gpu) { return reinterpret_cast<nvml::Device>(&gpu); }

nvml::Return give(const std::string& text, char* out, unsigned size) {
  if (text.size() + 1 > size) return nvml::insufficient_size;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return nvml::success;
}

double script_time() {
  static const auto began = std::chrono::steady_clock::now();
  double seconds = 0;
  if (const char* file = std::getenv("FAKE_NVML_CLOCK")) {
    std::ifstream(file) >> seconds;
    return seconds;
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

OpaqueGpu from(const json& facts) {
  OpaqueGpu gpu{facts, {}};
  for (const json& part : facts.value("mig", json::array())) gpu.instances.push_back(from(part));
  return gpu;
}

// Where nothing has changed handles stay what they were.
void read_machine() {
  std::ifstream file(std::getenv("FAKE_NVML"));
  const json machine = json::parse(file);
  if (!gpus.empty() && machine == script.machine()) return;
  script = NvmlScript(machine);
  script.at(script_time());
  gpus.clear();
  for (const json& facts : script.gpus()) gpus.push_back(from(facts));
}

// Handles stay what they were, of instances of MIG too: none comes or goes.
void move_on() {
  if (!script.at(script_time())) return;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].facts = script.gpus().at(i);
    for (std::size_t part = 0; part < gpus[i].instances.size(); ++part)
      if (gpus[i].facts.contains("mig"))
        gpus[i].instances[part].facts = gpus[i].facts["mig"].at(part);
  }
}

double cpu_ms() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) * 1e-6;
}

void pass_time(double asleep_ms, double busy_until_ms) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(asleep_ms));
  while (cpu_ms() < busy_until_ms) {
  }
}

// One call of a function of a GPU: takes its time, and keeps the machine as it is until it ends.
class Call {
 public:
  explicit Call(nvml::Device device, const char* function = __builtin_FUNCTION())
      : lock_(mutex), gpu_(&of(device)) {
    ++under_way;
    const double began_cpu_ms = cpu_ms();
    move_on();
    const int nth = ++calls[{fact<std::string>("uuid", ""), function}];
    const auto by_function = [&](const char* what, auto otherwise) {
      return facts().contains(what) ? facts()[what].value(function, otherwise) : otherwise;
    };
    answer_ = fact("lost", false) ? gpu_is_lost : by_function("answers", nvml::success);
    double asleep_ms = by_function("slow_ms", 0.0);
    for (const json& rule : by_function("calls", json::array())) {
      if (nth < rule.at("from") || (rule.contains("to") && nth > rule["to"])) continue;
      answer_ = rule.value("answer", answer_);
      asleep_ms = rule.value("slow_ms", asleep_ms);
    }
    // What the fake itself takes counts.
    const double busy_ms = by_function("busy_ms", 0.0);
    if (asleep_ms <= 0 && busy_ms <= 0) return;
    lock_.unlock();
    pass_time(asleep_ms, began_cpu_ms + busy_ms);
    lock_.lock();
  }

  ~Call() { --under_way; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  nvml::Return answer() const { return answer_; }
  const json& facts() const { return gpu_->facts; }
  template <class Value>
  Value fact(const char* name, Value otherwise) const {
    return facts().value(name, otherwise);
  }
  OpaqueGpu& gpu() const { return *gpu_; }

  // A fact, or an element of one that is a list, where the call succeeds.
  template <class Number>
  nvml::Return give(const char* fact, Number* out) const {
    if (answer_ != nvml::success) return answer_;
    if (!facts().contains(fact)) return nvml::not_supported;
    *out = facts()[fact].get<Number>();
    return nvml::success;
  }
  nvml::Return give_element(const char* fact, std::size_t index, unsigned* out) const {
    if (answer_ != nvml::success) return answer_;
    if (!facts().contains(fact)) return nvml::not_supported;
    *out = facts()[fact].at(index).get<unsigned>();
    return nvml::success;
  }
  nvml::Return give_text(const char* fact, char* out, unsigned size) const {
    return answer_ != nvml::success ? answer_ : ::give(facts().value(fact, ""), out, size);
  }

 private:
  std::unique_lock<std::mutex> lock_;
  OpaqueGpu* gpu_;
  nvml::Return answer_ = nvml::success;
};

// How long the rows of _v3 are: those of drivers 535.43 to 535.86 are longer than those before and
// after. "process_row_bytes" of a machine is any other size, of all functions.
std::size_t row_bytes(std::size_t documented, bool third) {
  const json& machine = script.machine();
  if (machine.contains("process_row_bytes")) return machine["process_row_bytes"].get<std::size_t>();
  int major = 0, minor = 0;
  std::sscanf(machine.value("driver", "580.65.06").c_str(), "%d.%d", &major, &minor);
  return third && major == 535 && minor < 98 ? 32 : documented;
}

// Field by field, as the driver does: what lies between fields stays as it was.
void fill(unsigned char* row, std::size_t bytes, unsigned pid, unsigned long long memory) {
  constexpr unsigned no_instance = ~0u;
  constexpr unsigned long long nothing_protected = 0;
  std::memcpy(row, &pid, sizeof pid);
  std::memcpy(row + 8, &memory, sizeof memory);
  for (std::size_t at = 16; at < std::min<std::size_t>(bytes, 24); at += sizeof no_instance)
    std::memcpy(row + at, &no_instance, sizeof no_instance);
  for (std::size_t at = 24; at < bytes; at += sizeof nothing_protected)
    std::memcpy(row + at, &nothing_protected, sizeof nothing_protected);
}

struct Tenant {
  unsigned pid = 0;
  unsigned long long bytes = 0;
};

std::vector<Tenant> tenants_of(const Call& call) {
  std::vector<Tenant> found;
  const char* const folder = std::getenv("FAKE_NVML_TENANTS");
  if (folder == nullptr) return found;
  std::error_code error;
  for (std::filesystem::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    const std::string name = file->path().filename().string();
    const bool nobody = name == "nobody";
    if (!nobody && !std::filesystem::exists("/proc/" + name)) continue;
    std::string uuid;
    Tenant tenant{.pid = nobody ? 0 : static_cast<unsigned>(std::stoul(name))};
    std::ifstream(file->path()) >> uuid >> tenant.bytes;
    if (uuid == call.fact<std::string>("uuid", "")) found.push_back(tenant);
  }
  return found;
}

unsigned long long used_bytes(const Call& call) {
  unsigned long long used = call.fact("used", 0ull);
  for (const Tenant& tenant : tenants_of(call)) used += tenant.bytes;
  return used;
}

nvml::Return give_processes(const Call& call, const std::string& kind, std::size_t bytes,
                            unsigned* count, void* out) {
  if (call.answer() != nvml::success) return call.answer();
  if (!call.facts().contains("processes")) return nvml::not_supported;
  unsigned found = 0;
  for (const json& process : call.facts()["processes"]) {
    if (process.value("kind", "compute") != kind) continue;
    if (found < *count && out)
      fill(static_cast<unsigned char*>(out) + found * bytes, bytes,
           process.at("pid").get<unsigned>(), process.value("memory", nvml::memory_not_available));
    ++found;
  }
  for (const Tenant& tenant : kind == "compute" ? tenants_of(call) : std::vector<Tenant>()) {
    if (tenant.pid == 0) continue;
    if (found < *count && out)
      fill(static_cast<unsigned char*>(out) + found * bytes, bytes, tenant.pid, tenant.bytes);
    ++found;
  }
  const bool fits = found <= *count;
  *count = found;
  return fits ? nvml::success : nvml::insufficient_size;
}

struct Sample {  // of GPM
  OpaqueGpu* gpu = nullptr;
  json values;
};
Sample*& of(nvml::GpmSample& sample) { return reinterpret_cast<Sample*&>(sample); }

}  // namespace

extern "C" {

nvml::Return nvmlInit_v2() {
  if (!std::getenv("FAKE_NVML")) return nvml::driver_not_loaded;
  const std::lock_guard lock(mutex);
  read_machine();
  const nvml::Return result = script.machine().value("init", nvml::success);
  if (result == nvml::success) ++users;
  return result;
}

nvml::Return nvmlShutdown() {
  const std::lock_guard lock(mutex);
  if (--users > 0) return nvml::success;
  if (under_way > 0) {
    std::fputs("fake NVML: shut down under a call\n", stderr);
    std::abort();
  }
  gpus.clear();
  return nvml::success;
}

const char* nvmlErrorString(nvml::Return result) {
  switch (result) {
    case nvml::no_permission:
      return "Insufficient Permissions";
    case nvml::driver_not_loaded:
      return "Driver Not Loaded";
    case nvml::library_mismatch:
      return "Driver/library version mismatch";
    case gpu_is_lost:
      return "GPU is lost";
    default:
      return "Unknown Error";
  }
}

nvml::Return nvmlSystemGetDriverVersion(char* text, unsigned size) {
  const std::lock_guard lock(mutex);
  return give(script.machine().value("driver", "580.65.06"), text, size);
}

nvml::Return nvmlSystemGetCudaDriverVersion_v2(int* version) {
  const std::lock_guard lock(mutex);
  *version = script.machine().value("cuda", 13000);
  return nvml::success;
}

nvml::Return nvmlDeviceGetCount_v2(unsigned* count) {
  const std::lock_guard lock(mutex);
  read_machine();  // a test may have changed it
  *count = static_cast<unsigned>(gpus.size());
  return nvml::success;
}

nvml::Return nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml::Device* device) {
  const std::lock_guard lock(mutex);
  move_on();
  if (index >= gpus.size()) return invalid_argument;
  *device = handle(gpus[index]);
  const json& facts = gpus[index].facts;
  return facts.value("error", facts.value("lost", false) ? gpu_is_lost : nvml::success);
}

nvml::Return nvmlDeviceGetHandleByUUID(const char* uuid, nvml::Device* device) {
  const std::lock_guard lock(mutex);
  for (OpaqueGpu& gpu : gpus) {
    if (gpu.facts.value("uuid", "") == uuid) {
      *device = handle(gpu);
      return nvml::success;
    }
  }
  return nvml::not_found;
}

nvml::Return nvmlDeviceGetUUID(nvml::Device device, char* text, unsigned size) {
  return Call(device).give_text("uuid", text, size);
}

nvml::Return nvmlDeviceGetName(nvml::Device device, char* text, unsigned size) {
  return Call(device).give_text("name", text, size);
}

nvml::Return nvmlDeviceGetPciInfo_v3(nvml::Device device, nvml::PciInfo* pci) {
  const Call call(device);
  pci->domain = call.fact("domain", 0u);
  pci->device = call.fact("device", 0u);
  return call.give("bus", &pci->bus);
}

nvml::Return nvmlDeviceGetMemoryInfo(nvml::Device device, nvml::Memory* memory) {
  const Call call(device);
  *memory = {0, 0, used_bytes(call)};
  return call.give("memory", &memory->total);
}

nvml::Return nvmlDeviceGetMemoryInfo_v2(nvml::Device device, nvml::MemoryV2* memory) {
  const Call call(device);
  if (memory->version != nvml::memory_v2_version) return version_mismatch;
  memory->used = used_bytes(call);
  return call.give("memory", &memory->total);
}

nvml::Return nvmlDeviceGetCudaComputeCapability(nvml::Device device, int* major, int* minor) {
  const Call call(device);
  *major = call.fact("major", 0);
  *minor = call.fact("minor", 0);
  return call.answer();
}

nvml::Return nvmlDeviceGetUtilizationRates(nvml::Device device, nvml::Utilization* rates) {
  const Call call(device);
  rates->memory = call.fact("memory_utilization", 0u);
  const nvml::Return answer = call.give("utilization", &rates->gpu);
  const auto tenants = static_cast<unsigned>(tenants_of(call).size());
  rates->gpu = std::min(100u, rates->gpu + tenants * call.fact("tenant_utilization", 0u));
  return answer;
}

nvml::Return nvmlDeviceGetNvLinkState(nvml::Device device, unsigned link, unsigned* active) {
  const Call call(device);
  const json links = call.fact("nvlinks", json::array());
  if (link >= links.size()) return nvml::not_supported;
  *active = links[link].is_null() ? 0 : 1;
  return call.answer();
}

nvml::Return nvmlDeviceGetNvLinkRemoteDeviceType(nvml::Device device, unsigned link,
                                                 unsigned* type) {
  const Call call(device);
  *type =
      call.facts().at("nvlinks")[link] == "switch" ? nvml::nvlink_to_switch : nvml::nvlink_to_gpu;
  return call.answer();
}

nvml::Return nvmlDeviceGetNvLinkRemotePciInfo_v2(nvml::Device device, unsigned link,
                                                 nvml::PciInfo* pci) {
  const Call call(device);
  const json& other = call.facts().at("nvlinks")[link];
  pci->domain = pci->device = 0;
  pci->bus = other.is_number() ? other.get<unsigned>() : 0;
  return call.answer();
}

nvml::Return nvmlDeviceGetFieldValues(nvml::Device device, int count, nvml::FieldValue* values) {
  const Call call(device);
  for (int i = 0; i < count; ++i) {
    nvml::FieldValue& one = values[i];
    one.result = nvml::not_supported;
    one.type = nvml::value_is_unsigned;
    if (one.field == nvml::field_nvlink_speed) {
      one.result = call.give("nvlink_mbps", &one.value.as_unsigned);
    } else if (one.field == nvml::field_nvlink_sent_kib ||
               one.field == nvml::field_nvlink_received_kib) {
      const bool sent = one.field == nvml::field_nvlink_sent_kib;
      one.type = nvml::value_is_unsigned_long_long;
      if (!call.facts().contains("nvlink_kib")) continue;
      one.result = nvml::success;
      one.value.as_unsigned_long_long =
          call.facts()["nvlink_kib"].at(sent ? 0 : 1).get<unsigned long long>();
    }
  }
  return call.answer();
}

nvml::Return nvmlDeviceGetMaxPcieLinkGeneration(nvml::Device device, unsigned* generation) {
  return Call(device).give_element("pcie", 0, generation);
}

nvml::Return nvmlDeviceGetMaxPcieLinkWidth(nvml::Device device, unsigned* lanes) {
  return Call(device).give_element("pcie", 1, lanes);
}

nvml::Return nvmlDeviceGetMinorNumber(nvml::Device device, unsigned* minor) {
  return Call(device).give("minor_number", minor);
}

nvml::Return nvmlDeviceGetEnforcedPowerLimit(nvml::Device device, unsigned* milliwatts) {
  return Call(device).give("power_limit", milliwatts);
}

nvml::Return nvmlDeviceGetPowerManagementDefaultLimit(nvml::Device device, unsigned* milliwatts) {
  return Call(device).give("default_power_limit", milliwatts);
}

nvml::Return nvmlDeviceGetComputeMode(nvml::Device device, int* mode) {
  return Call(device).give("compute_mode", mode);
}

nvml::Return nvmlDeviceGetTotalEccErrors(nvml::Device device, unsigned kind, unsigned counter,
                                         unsigned long long* errors) {
  if (kind != nvml::ecc_uncorrected || counter != nvml::ecc_since_load) return invalid_argument;
  return Call(device).give("ecc_uncorrected", errors);
}

nvml::Return nvmlDeviceGetRemappedRows(nvml::Device device, unsigned* corrected,
                                       unsigned* uncorrected, unsigned* pending, unsigned* failed) {
  const Call call(device);
  unsigned index = 0;
  nvml::Return result = nvml::success;
  for (unsigned* out : {corrected, uncorrected, pending, failed})
    result = call.give_element("remapped_rows", index++, out);
  return result;
}

nvml::Return nvmlDeviceGetTopologyCommonAncestor(nvml::Device a, nvml::Device b, int* level) {
  const std::lock_guard lock(mutex);
  const json levels = script.machine().value("topology", json::object());
  auto number = [](nvml::Device device) { return &of(device) - gpus.data(); };
  const std::string key = std::to_string(number(a)) + "-" + std::to_string(number(b));
  if (!levels.contains(key)) return nvml::not_supported;
  *level = levels[key].get<int>();
  return nvml::success;
}

nvml::Return nvmlDeviceGetPowerUsage(nvml::Device device, unsigned* milliwatts) {
  return Call(device).give("power", milliwatts);
}

nvml::Return nvmlDeviceGetTemperature(nvml::Device device, unsigned, unsigned* degrees) {
  return Call(device).give("temperature", degrees);
}

nvml::Return nvmlDeviceGetClockInfo(nvml::Device device, unsigned type, unsigned* mhz) {
  return Call(device).give(type == nvml::clock_of_memory ? "memory_clock" : "clock", mhz);
}

nvml::Return nvmlDeviceGetMaxClockInfo(nvml::Device device, unsigned, unsigned* mhz) {
  return Call(device).give("max_clock", mhz);
}

nvml::Return nvmlDeviceGetCurrentClocksThrottleReasons(nvml::Device device,
                                                       unsigned long long* reasons) {
  return Call(device).give("reasons", reasons);
}

nvml::Return nvmlDeviceGetCurrentClocksEventReasons(nvml::Device device,
                                                    unsigned long long* reasons) {
  return Call(device).give("reasons", reasons);
}

nvml::Return nvmlDeviceGetPcieThroughput(nvml::Device device, unsigned direction, unsigned* kib) {
  return Call(device).give_element("pcie_kib", direction, kib);
}

nvml::Return nvmlDeviceGetCurrPcieLinkGeneration(nvml::Device device, unsigned* generation) {
  return Call(device).give_element("pcie_now", 0, generation);
}

nvml::Return nvmlDeviceGetCurrPcieLinkWidth(nvml::Device device, unsigned* lanes) {
  return Call(device).give_element("pcie_now", 1, lanes);
}

#define LOCKSTEP_LIST(name, kind, bytes, third)                                   \
  nvml::Return name(nvml::Device device, unsigned* count, void* processes) {      \
    const Call call(device);                                                      \
    return give_processes(call, kind, row_bytes(bytes, third), count, processes); \
  }
LOCKSTEP_LIST(nvmlDeviceGetComputeRunningProcesses, "compute", 16, false)
LOCKSTEP_LIST(nvmlDeviceGetComputeRunningProcesses_v2, "compute", 24, false)
LOCKSTEP_LIST(nvmlDeviceGetComputeRunningProcesses_v3, "compute", 24, true)
LOCKSTEP_LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, "mps", 24, true)
LOCKSTEP_LIST(nvmlDeviceGetGraphicsRunningProcesses, "graphics", 16, false)
LOCKSTEP_LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, "graphics", 24, false)
LOCKSTEP_LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, "graphics", 24, true)
#undef LOCKSTEP_LIST

nvml::Return nvmlDeviceGetTotalEnergyConsumption(nvml::Device device, unsigned long long* mj) {
  return Call(device).give("energy", mj);
}

nvml::Return nvmlDeviceGetProcessUtilization(nvml::Device device, nvml::ProcessUtilization* rows,
                                             unsigned* count, unsigned long long) {
  const Call call(device);
  if (call.answer() != nvml::success) return call.answer();
  const json all = call.fact("process_utilization", json::array());
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
  const Call call(device);
  support->supported = call.facts().contains("gpm") ? 1 : 0;
  return call.answer();
}

nvml::Return nvmlGpmSampleAlloc(nvml::GpmSample* sample) {
  of(*sample) = new Sample;
  return nvml::success;
}

nvml::Return nvmlGpmSampleFree(nvml::GpmSample sample) {
  delete of(sample);
  return nvml::success;
}

// Two threads at once crash the real one: here the second gets no sample.
nvml::Return nvmlGpmSampleGet(nvml::Device device, nvml::GpmSample sample) {
  static std::mutex one_at_a_time;
  const std::unique_lock alone(one_at_a_time, std::try_to_lock);
  if (!alone) return unknown_error;
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  const Call call(device);
  *of(sample) = {&call.gpu(), call.fact("gpm", json::object())};
  return call.answer();
}

// Values at the second sample; both must be of one GPU.
nvml::Return nvmlGpmMetricsGet(nvml::GpmMetrics* metrics) {
  const Sample &before = *of(metrics->before), &after = *of(metrics->after);
  if (metrics->version != 1 || !after.gpu || before.gpu != after.gpu) return invalid_argument;
  const Call call(handle(*after.gpu));
  if (call.answer() != nvml::success) return call.answer();
  for (unsigned i = 0; i < metrics->count; ++i) {
    nvml::GpmMetric& one = metrics->metrics[i];
    const std::string id = std::to_string(one.metric);
    one.result = after.values.contains(id) ? nvml::success : nvml::not_supported;
    if (after.values.contains(id)) one.value = after.values[id].get<double>();
  }
  return nvml::success;
}

nvml::Return nvmlDeviceGetNvLinkVersion(nvml::Device device, unsigned, unsigned* version) {
  return Call(device).give("nvlink_version", version);
}

nvml::Return nvmlDeviceGetMigMode(nvml::Device device, unsigned* mode, unsigned* pending) {
  const Call call(device);
  *mode = *pending = call.facts().contains("mig") ? 1 : 0;
  return call.answer();
}

nvml::Return nvmlDeviceGetMaxMigDeviceCount(nvml::Device, unsigned* count) {
  *count = 7;
  return nvml::success;
}

nvml::Return nvmlDeviceGetMigDeviceHandleByIndex(nvml::Device device, unsigned index,
                                                 nvml::Device* instance) {
  const Call call(device);
  if (index >= call.gpu().instances.size()) return nvml::not_found;
  *instance = handle(call.gpu().instances[index]);
  return call.answer();
}
}
