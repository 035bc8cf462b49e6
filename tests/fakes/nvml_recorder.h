// Writes down what NVML tells of this machine's GPUs, as a script (nvml_script.h) that the fake
// NVML then answers from.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/devices/nvml/nvml_calls.h"
#include "core/devices/nvml/nvml_library.h"
#include "core/devices/nvml/nvml_processes.h"
#include "tools/monitor/gpu/gpu_reader.h"

namespace lockstep::testing {

class NvmlRecorder {
 public:
  // Throws std::runtime_error where NVML does not start.
  NvmlRecorder() {
    if (!library_.started()) throw std::runtime_error(library_.why_absent());
    char text[nvml::text_length] = {};
    int version = 0;
    if (nvml::ask(api_.nvmlSystemGetDriverVersion, text, unsigned{sizeof text}) == nvml::success)
      machine_["driver"] = text;
    if (nvml::ask(api_.nvmlSystemGetCudaDriverVersion_v2, &version) == nvml::success)
      machine_["cuda"] = version;
    unsigned count = 0;
    api_.nvmlDeviceGetCount_v2(&count);
    for (unsigned i = 0; i < count; ++i) {
      nvml::Device device = nullptr;
      const nvml::Return result = api_.nvmlDeviceGetHandleByIndex_v2(i, &device);
      gpus_.push_back({.device = result == nvml::success ? device : nullptr, .error = result});
    }
    // Values of GPM are of the time between two samples, which must not be too near.
    nlohmann::json nothing;
    for (Gpu& gpu : gpus_)
      if (gpu.device) ask_gpm(gpu, nothing);
    if (std::any_of(gpus_.begin(), gpus_.end(),
                    [](const Gpu& gpu) { return gpu.sample != nullptr; }))
      system_clock().sleep_s(0.1);
    for (std::size_t a = 0; a < gpus_.size(); ++a)
      for (std::size_t b = a + 1; b < gpus_.size(); ++b) {
        int level = 0;
        if (gpus_[a].device && gpus_[b].device &&
            nvml::ask(api_.nvmlDeviceGetTopologyCommonAncestor, gpus_[a].device, gpus_[b].device,
                      &level) == nvml::success)
          machine_["topology"][std::to_string(a) + "-" + std::to_string(b)] = level;
      }
  }

  // Asks for all once; `seconds`: since the beginning, rising.
  void add(double seconds) {
    nlohmann::json changes = nlohmann::json::object();
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      nlohmann::json facts = ask_all(gpus_[i]);
      if (frames_ == 0) {
        machine_["gpus"].push_back(facts);
      } else if (nlohmann::json changed = difference(gpus_[i].facts, facts); !changed.empty()) {
        changes[std::to_string(i)] = std::move(changed);
      }
      gpus_[i].facts = std::move(facts);
    }
    if (!changes.empty()) machine_["frames"].push_back({{"at", seconds}, {"gpus", changes}});
    ++frames_;
  }

  // With the times that functions took, by their median.
  nlohmann::json script() const {
    nlohmann::json script = machine_;
    for (std::size_t i = 0; i < script["gpus"].size(); ++i)
      for (const auto& [function, costs] : gpus_[i].costs) {
        constexpr double least_ms = 0.01;
        const double asleep = median(costs.asleep_ms), busy = median(costs.busy_ms);
        if (asleep >= least_ms) script["gpus"][i]["slow_ms"][function] = rounded(asleep, 1000);
        if (busy >= least_ms) script["gpus"][i]["busy_ms"][function] = rounded(busy, 1000);
      }
    return script;
  }

 private:
  struct Costs {
    std::vector<double> asleep_ms, busy_ms;
  };
  struct Free {
    const nvml::Api* api;
    void operator()(nvml::GpmSample sample) const { nvml::ask(api->nvmlGpmSampleFree, sample); }
  };
  using Sample = std::unique_ptr<std::remove_pointer_t<nvml::GpmSample>, Free>;
  struct Gpu {
    nvml::Device device = nullptr;
    nvml::Return error = nvml::success;
    nlohmann::json facts;
    std::map<std::string, Costs> costs;
    Sample sample{nullptr, {nullptr}};
  };

  static double rounded(double value, double parts) { return std::round(value * parts) / parts; }
  static double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
  }
  // What merge_patch makes `after` of `before` with.
  static nlohmann::json difference(const nlohmann::json& before, const nlohmann::json& after) {
    nlohmann::json changed = nlohmann::json::object();
    for (const auto& [key, value] : after.items()) {
      if (!before.contains(key)) {
        changed[key] = value;
      } else if (before[key] != value) {
        changed[key] = value.is_object() ? difference(before[key], value) : value;
      }
    }
    for (const auto& [key, value] : before.items())
      if (!after.contains(key)) changed[key] = nullptr;
    return changed;
  }

  // Notes how long a call takes.
  template <class Call>
  static nvml::Return timed(Gpu& gpu, const char* name, const Call& call) {
    const double began_s = system_clock().now_s(), cpu_before_s = thread_cpu_s();
    const nvml::Return result = call();
    const double busy_ms = (thread_cpu_s() - cpu_before_s) * 1e3;
    Costs& costs = gpu.costs[name];
    costs.busy_ms.push_back(busy_ms);
    costs.asleep_ms.push_back((system_clock().now_s() - began_s) * 1e3 - busy_ms);
    return result;
  }

  // One call: true on success. Notes how long it took, and an answer that is an error.
  template <class... Parameters, class... Arguments>
  bool ask(Gpu& gpu, nlohmann::json& facts, const char* name,
           nvml::Return (*function)(nvml::Device, Parameters...), Arguments... arguments) {
    if (!function) return false;
    const nvml::Return result =
        timed(gpu, name, [&] { return function(gpu.device, arguments...); });
    const bool is_error = result != nvml::success && result != nvml::not_supported &&
                          result != nvml::not_found && result != nvml::insufficient_size;
    if (is_error) facts["answers"][name] = result;
    return result == nvml::success;
  }

  nlohmann::json ask_all(Gpu& gpu) {
    nlohmann::json facts = nlohmann::json::object();
    if (!gpu.device) {
      facts["error"] = gpu.error;
      return facts;
    }
    ask_identity(gpu, facts);
    ask_numbers(gpu, facts);
    ask_pcie(gpu, facts);
    ask_nvlinks(gpu, facts);
    ask_gpm(gpu, facts);
    ask_processes(gpu, facts);
    unsigned mode = 0, pending = 0;
    if (nvml::ask(api_.nvmlDeviceGetMigMode, gpu.device, &mode, &pending) == nvml::success &&
        mode == 1) {
      facts["mig"] = nlohmann::json::array();
      for (const nvml::Device instance : mig_instances(api_, gpu.device)) {
        Gpu part{.device = instance};
        facts["mig"].push_back(nlohmann::json::object());
        ask_identity(part, facts["mig"].back());
        ask_processes(part, facts["mig"].back());
      }
    }
    return facts;
  }

// The function of that name: what it is called by, and itself.
#define FUNCTION(name) #name, api_.name

  void ask_identity(Gpu& gpu, nlohmann::json& facts) {
    char text[nvml::text_length] = {};
    if (ask(gpu, facts, FUNCTION(nvmlDeviceGetUUID), text, unsigned{sizeof text}))
      facts["uuid"] = text;
    if (ask(gpu, facts, FUNCTION(nvmlDeviceGetName), text, unsigned{sizeof text}))
      facts["name"] = text;
    nvml::PciInfo pci{};
    if (ask(gpu, facts, FUNCTION(nvmlDeviceGetPciInfo_v3), &pci)) {
      facts["domain"] = pci.domain;
      facts["bus"] = pci.bus;
      facts["device"] = pci.device;
    }
    int major = 0, minor = 0;
    if (ask(gpu, facts, FUNCTION(nvmlDeviceGetCudaComputeCapability), &major, &minor)) {
      facts["major"] = major;
      facts["minor"] = minor;
    }
    nvml::Memory memory{};
    nvml::MemoryV2 newer{.version = nvml::memory_v2_version};
    if (ask(gpu, facts, FUNCTION(nvmlDeviceGetMemoryInfo), &memory)) {
      facts["memory"] = memory.total;
      facts["used"] = memory.used;
    }
    if (ask(gpu, facts, FUNCTION(nvmlDeviceGetMemoryInfo_v2), &newer)) facts["used"] = newer.used;
  }

  void ask_numbers(Gpu& gpu, nlohmann::json& facts) {
    unsigned number = 0;
    unsigned long long counter = 0;
    int mode = 0;
    nvml::Utilization rates{};
    const auto take = [&](const char* fact, const char* name, auto function, auto... arguments) {
      if (ask(gpu, facts, name, function, arguments..., &number)) facts[fact] = number;
    };
    take("minor_number", FUNCTION(nvmlDeviceGetMinorNumber));
    take("power", FUNCTION(nvmlDeviceGetPowerUsage));
    take("power_limit", FUNCTION(nvmlDeviceGetEnforcedPowerLimit));
    take("default_power_limit", FUNCTION(nvmlDeviceGetPowerManagementDefaultLimit));
    take("temperature", FUNCTION(nvmlDeviceGetTemperature), nvml::temperature_of_chip);
    take("clock", FUNCTION(nvmlDeviceGetClockInfo), nvml::clock_of_sms);
    take("memory_clock", FUNCTION(nvmlDeviceGetClockInfo), nvml::clock_of_memory);
    take("max_clock", FUNCTION(nvmlDeviceGetMaxClockInfo), nvml::clock_of_sms);
    if (ask(gpu, facts, FUNCTION(nvmlDeviceGetComputeMode), &mode)) facts["compute_mode"] = mode;
    if (ask(gpu, facts, FUNCTION(nvmlDeviceGetTotalEccErrors), nvml::ecc_uncorrected,
            nvml::ecc_since_load, &counter))
      facts["ecc_uncorrected"] = counter;
    unsigned rows[4] = {};
    if (ask(gpu, facts, FUNCTION(nvmlDeviceGetRemappedRows), rows, rows + 1, rows + 2, rows + 3))
      facts["remapped_rows"] = rows;
    if (ask(gpu, facts, FUNCTION(nvmlDeviceGetUtilizationRates), &rates)) {
      facts["utilization"] = rates.gpu;
      facts["memory_utilization"] = rates.memory;
    }
    if (ask(gpu, facts, FUNCTION(nvmlDeviceGetTotalEnergyConsumption), &counter))
      facts["energy"] = counter;
    if (api_.nvmlDeviceGetCurrentClocksEventReasons
            ? ask(gpu, facts, FUNCTION(nvmlDeviceGetCurrentClocksEventReasons), &counter)
            : ask(gpu, facts, FUNCTION(nvmlDeviceGetCurrentClocksThrottleReasons), &counter))
      facts["reasons"] = counter;
  }

  void ask_pcie(Gpu& gpu, nlohmann::json& facts) {
    unsigned first = 0, second = 0;
    if (ask(gpu, facts, FUNCTION(nvmlDeviceGetMaxPcieLinkGeneration), &first) &&
        ask(gpu, facts, FUNCTION(nvmlDeviceGetMaxPcieLinkWidth), &second))
      facts["pcie"] = {first, second};
    if (ask(gpu, facts, FUNCTION(nvmlDeviceGetCurrPcieLinkGeneration), &first) &&
        ask(gpu, facts, FUNCTION(nvmlDeviceGetCurrPcieLinkWidth), &second))
      facts["pcie_now"] = {first, second};
    if (ask(gpu, facts, FUNCTION(nvmlDeviceGetPcieThroughput), nvml::pcie_sent, &first) &&
        ask(gpu, facts, FUNCTION(nvmlDeviceGetPcieThroughput), nvml::pcie_received, &second))
      facts["pcie_kib"] = {first, second};
  }

  void ask_nvlinks(Gpu& gpu, nlohmann::json& facts) {
    for (unsigned link = 0; link < nvml::most_nvlinks; ++link) {
      unsigned active = 0, type = nvml::nvlink_to_gpu, version = 0;
      nvml::PciInfo pci{};
      if (!ask(gpu, facts, FUNCTION(nvmlDeviceGetNvLinkState), link, &active)) break;
      nlohmann::json& links = facts["nvlinks"];
      if (active == 0) {
        links.push_back(nullptr);
        continue;
      }
      ask(gpu, facts, FUNCTION(nvmlDeviceGetNvLinkRemoteDeviceType), link, &type);
      ask(gpu, facts, FUNCTION(nvmlDeviceGetNvLinkRemotePciInfo_v2), link, &pci);
      if (type == nvml::nvlink_to_switch) {
        links.push_back("switch");
      } else {
        links.push_back(pci.bus);
      }
      if (ask(gpu, facts, FUNCTION(nvmlDeviceGetNvLinkVersion), link, &version))
        facts["nvlink_version"] = version;
    }
    nvml::FieldValue speed{.field = nvml::field_nvlink_speed};
    if (ask(gpu, facts, FUNCTION(nvmlDeviceGetFieldValues), 1, &speed) &&
        speed.result == nvml::success)
      facts["nvlink_mbps"] = speed.value.as_unsigned;
    nvml::FieldValue sent{.field = nvml::field_nvlink_sent_kib, .scope = nvml::all_nvlinks},
        received{.field = nvml::field_nvlink_received_kib, .scope = nvml::all_nvlinks};
    if (ask(gpu, facts, FUNCTION(nvmlDeviceGetFieldValues), 1, &sent) &&
        ask(gpu, facts, FUNCTION(nvmlDeviceGetFieldValues), 1, &received) &&
        sent.result == nvml::success && received.result == nvml::success)
      facts["nvlink_kib"] = {sent.value.as_unsigned_long_long,
                             received.value.as_unsigned_long_long};
  }

  // Values between the sample of the last call and one that it takes.
  void ask_gpm(Gpu& gpu, nlohmann::json& facts) {
    nvml::GpmSupport support{};
    if (!ask(gpu, facts, FUNCTION(nvmlGpmQueryDeviceSupport), &support) || support.supported == 0)
      return;
    facts["gpm"] = nlohmann::json::object();
    nvml::GpmSample raw = nullptr;
    if (nvml::ask(api_.nvmlGpmSampleAlloc, &raw) != nvml::success) return;
    Sample sample(raw, {&api_});
    if (!ask(gpu, facts, FUNCTION(nvmlGpmSampleGet), sample.get())) return;
    if (gpu.sample) {
      const auto metrics = std::make_unique<nvml::GpmMetrics>();
      for (const unsigned metric :
           {nvml::gpm_sm, nvml::gpm_tensor, nvml::gpm_dram, nvml::gpm_pcie_sent,
            nvml::gpm_pcie_received, nvml::gpm_nvlink_received, nvml::gpm_nvlink_sent})
        metrics->metrics[metrics->count++].metric = metric;
      metrics->before = gpu.sample.get();
      metrics->after = sample.get();
      const auto get = [&] { return nvml::ask(api_.nvmlGpmMetricsGet, metrics.get()); };
      if (timed(gpu, "nvmlGpmMetricsGet", get) == nvml::success)
        for (unsigned i = 0; i < metrics->count; ++i)
          if (metrics->metrics[i].result == nvml::success)
            facts["gpm"][std::to_string(metrics->metrics[i].metric)] =
                rounded(metrics->metrics[i].value, 1000);
    }
    gpu.sample = std::move(sample);
  }

  void ask_processes(Gpu& gpu, nlohmann::json& facts, const char* kind, const char* name,
                     nvml::ListProcesses function, std::size_t row_bytes) {
    unsigned count = 1000;  // enough
    ProcessRows rows(count);
    if (!ask(gpu, facts, name, function, &count, rows.data())) return;
    const auto found = rows.read(count, row_bytes);
    if (!found) return;
    nlohmann::json& processes = facts["processes"];
    if (processes.is_null()) processes = nlohmann::json::array();
    for (const nvml::ProcessInfo& one : *found) {
      nlohmann::json process{{"pid", one.pid}};
      if (one.used_memory != nvml::memory_not_available) process["memory"] = one.used_memory;
      if (std::string(kind) != "compute") process["kind"] = kind;
      processes.push_back(process);
    }
  }

  void ask_processes(Gpu& gpu, nlohmann::json& facts) {
    if (api_.nvmlDeviceGetComputeRunningProcesses_v3) {
      ask_processes(gpu, facts, "compute", FUNCTION(nvmlDeviceGetComputeRunningProcesses_v3),
                    nvml::process_info_v2_bytes);
      ask_processes(gpu, facts, "mps", FUNCTION(nvmlDeviceGetMPSComputeRunningProcesses_v3),
                    nvml::process_info_v2_bytes);
      ask_processes(gpu, facts, "graphics", FUNCTION(nvmlDeviceGetGraphicsRunningProcesses_v3),
                    nvml::process_info_v2_bytes);
    } else {
      ask_processes(gpu, facts, "compute", FUNCTION(nvmlDeviceGetComputeRunningProcesses),
                    nvml::process_info_v1_bytes);
      ask_processes(gpu, facts, "graphics", FUNCTION(nvmlDeviceGetGraphicsRunningProcesses),
                    nvml::process_info_v1_bytes);
    }
    unsigned count = 1000;
    std::vector<nvml::ProcessUtilization> rows(count);
    const double now_s = system_clock().wall_s();
    constexpr double oldest_s = 2;
    if (!ask(gpu, facts, FUNCTION(nvmlDeviceGetProcessUtilization), rows.data(), &count,
             static_cast<unsigned long long>((now_s - oldest_s) * 1e6)))
      return;
    for (unsigned i = 0; i < count; ++i)
      facts["process_utilization"].push_back(
          {{"pid", rows[i].pid},
           {"sm", rows[i].sm},
           {"age_s", rounded(now_s - static_cast<double>(rows[i].timestamp_us) * 1e-6, 10)}});
  }
#undef FUNCTION

  NvmlLibrary library_;
  const nvml::Api& api_ = library_.api();
  nlohmann::json machine_{{"gpus", nlohmann::json::array()}};
  std::vector<Gpu> gpus_;
  std::size_t frames_ = 0;
};

}  // namespace lockstep::testing
