// What GPUs tell and what becomes of it, as a JSON file: the fake NVML library answers out of one,
// NvmlRecorder writes one on a machine with GPUs. A machine:
//   {"driver": "580.65.06", "cuda": 13000, "init": 0, "gpus": [GPU, …], "topology": {"0-1": 50},
//    "process_row_bytes": 24,
//    "frames": [{"at": 2.5, "gpus": {"1": {"power": 70000, "lost": true}}}, …]}
// A frame changes facts of GPUs, by index, from so many seconds on (an RFC 7386 merge: lists are
// replaced, null removes). A GPU:
//   {"uuid": "GPU-…", "name": "Tesla T4", "domain": 0, "bus": 101, "device": 0, "minor_number": 0,
//    "memory": 16106127360, "used": 1048576, "major": 7, "minor": 5, "utilization": 40,
//    "memory_utilization": 20,
//    "power": 65000, "power_limit": 60000, "default_power_limit": 70000, "energy": 1000,
//    "temperature": 60, "clock": 1980, "max_clock": 1980, "memory_clock": 3201, "reasons": 4,
//    "compute_mode": 0, "pcie": [5, 16], "ecc_uncorrected": 0, "remapped_rows": [0, 0, 0, 0],
//    "pcie_now": [5, 16], "pcie_kib": [1024, 2048], "nvlinks": ["switch", 102, null],
//    "nvlink_version": 6, "nvlink_mbps": 25000, "nvlink_kib": [0, 0], "gpm": {"2": 93.5},
//    "processes": [{"pid": 1, "memory": 1048576, "kind": "compute"}],
//    "process_utilization": [{"pid": 1, "sm": 40, "age_s": 0.5}], "mig": [GPU, …], "error": 0,
//    "lost": false, "answers": {"nvmlDeviceGetPowerUsage": 999},
//    "slow_ms": {"nvmlDeviceGetPcieThroughput": 20},
//    "busy_ms": {"nvmlDeviceGetTotalEnergyConsumption": 7},
//    "calls": {"nvmlDeviceGetPowerUsage": [{"from": 3, "to": 3, "answer": 999, "slow_ms": 50}]}}
// What a GPU lacks it does not support. Units are NVML's. "nvlinks" has the other end of each link:
// a switch, the bus of a GPU, or null for one that is down; "nvlink_kib" are counters. "gpm" has
// values by metric id. A process is of kind "compute", "graphics" or "mps". "topology" has
// nvmlGpuTopologyLevel_t by pairs. "init", "error" (of the handle) and "answers" are NVML's return
// codes. "process_row_bytes" is how long the rows
// of processes are, where that is not as the driver's version has it. "slow_ms" and "busy_ms" are
// times that a function takes, asleep and of a core; "calls" is of its n-th calls since the library
// was loaded, to the last if "to" lacks. A lost GPU answers nothing.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace lockstep::testing {

class NvmlScript {
 public:
  NvmlScript() = default;
  // Throws nlohmann::json::exception.
  explicit NvmlScript(nlohmann::json machine) : machine_(std::move(machine)) { start(); }

  const nlohmann::json& machine() const { return machine_; }
  // By index, as of the last at().
  const nlohmann::json& gpus() const { return gpus_; }

  // Applies what has changed until `seconds`; true: something has. Back in time it begins anew.
  bool at(double seconds) {
    bool changed = false;
    if (seconds < at_) {
      start();
      changed = true;
    }
    at_ = seconds;
    if (!machine_.contains("frames")) return changed;
    const nlohmann::json& frames = machine_["frames"];
    for (; next_ < frames.size() && frames[next_].at("at").get<double>() <= seconds; ++next_) {
      for (const auto& [index, facts] : frames[next_].at("gpus").items())
        gpus_.at(static_cast<std::size_t>(std::stoul(index))).merge_patch(facts);
      changed = true;
    }
    return changed;
  }

 private:
  void start() {
    gpus_ = machine_.value("gpus", nlohmann::json::array());
    next_ = 0;
    at_ = 0;
  }

  nlohmann::json machine_ = nlohmann::json::object(), gpus_ = nlohmann::json::array();
  std::size_t next_ = 0;
  double at_ = 0;
};

}  // namespace lockstep::testing
