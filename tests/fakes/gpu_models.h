// What the fake NVML tells of GPUs of four models (nvml_script.h).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lockstep::testing {

// With `more` in addition or instead.
inline nlohmann::json gpu_facts(int index, const std::string& name, const nlohmann::json& more) {
  const std::string number = std::to_string(index);
  nlohmann::json facts{
      {"uuid", "GPU-0000000" + number + "-0000-0000-0000-000000000000"},
      {"name", name},
      {"bus", 0x10 + index},
      {"minor_number", index},
      {"used", 1 << 20},
      {"utilization", 40},
      {"power", 65000},
      {"energy", 5000},
      {"temperature", 60},
      {"reasons", 4},
      {"compute_mode", 0},
      {"processes", nlohmann::json::array()},
  };
  facts.update(more);
  return facts;
}

// One with no NVLink and without activity of its parts.
inline nlohmann::json t4(int index = 0) {
  return gpu_facts(index, "Tesla T4",
                   {{"memory", 16106127360},
                    {"major", 7},
                    {"minor", 5},
                    {"power_limit", 70000},
                    {"default_power_limit", 70000},
                    {"clock", 585},
                    {"max_clock", 1590},
                    {"memory_clock", 5000},
                    {"pcie", {3, 16}},
                    {"pcie_now", {3, 8}},
                    {"pcie_kib", {1024, 2048}}});
}

// With NVLink to a switch, and without activity of its parts.
inline nlohmann::json a100(int index = 0) {
  return gpu_facts(index, "NVIDIA A100-SXM4-80GB",
                   {{"memory", 85899345920},
                    {"major", 8},
                    {"minor", 0},
                    {"power_limit", 400000},
                    {"default_power_limit", 400000},
                    {"clock", 1410},
                    {"max_clock", 1410},
                    {"memory_clock", 1593},
                    {"pcie", {4, 16}},
                    {"pcie_now", {4, 16}},
                    {"pcie_kib", {1024, 2048}},
                    {"nvlinks", nlohmann::json(12, "switch")},
                    {"nvlink_version", 5},
                    {"nvlink_mbps", 25000},
                    {"nvlink_kib", {1000, 2000}}});
}

// With activity of its parts (GPM), which has traffic too.
inline nlohmann::json hopper(int index, const std::string& name, std::uint64_t memory) {
  return gpu_facts(index, name,
                   {{"memory", memory},
                    {"major", 9},
                    {"minor", 0},
                    {"power_limit", 700000},
                    {"default_power_limit", 700000},
                    {"clock", 1980},
                    {"max_clock", 1980},
                    {"memory_clock", 2619},
                    {"pcie", {5, 16}},
                    {"pcie_now", {5, 16}},
                    {"pcie_kib", {1024, 2048}},
                    {"nvlinks", nlohmann::json(18, "switch")},
                    {"nvlink_version", 6},
                    {"nvlink_mbps", 26562},
                    {"nvlink_kib", {1000, 2000}},
                    {"gpm",
                     {{"2", 30.0},
                      {"5", 10.0},
                      {"10", 20.0},
                      {"20", 1.0},
                      {"21", 2.0},
                      {"60", 3.0},
                      {"61", 4.0}}}});
}
inline nlohmann::json h100(int index = 0) {
  return hopper(index, "NVIDIA H100 80GB HBM3", 85520809984);
}
inline nlohmann::json h200(int index = 0) { return hopper(index, "NVIDIA H200", 150754820096); }

// Split by MIG into so many instances, as somebody other than root sees it: the whole tells neither
// its load nor its memory and processes, an instance its memory and processes only.
inline nlohmann::json split_by_mig(nlohmann::json whole, int instances) {
  for (const char* fact : {"utilization", "gpm", "process_utilization"}) whole.erase(fact);
  constexpr int no_permission = 4;
  for (const char* function :
       {"nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo_v2",
        "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses_v3",
        "nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2",
        "nvmlDeviceGetGraphicsRunningProcesses_v3"})
    whole["answers"][function] = no_permission;
  whole["mig"] = nlohmann::json::array();
  for (int i = 0; i < instances; ++i)
    whole["mig"].push_back({{"uuid", "MIG-" + std::to_string(i)},
                            {"name", whole["name"].get<std::string>() + " MIG 1g.10gb"},
                            {"memory", 10737418240},
                            {"used", (i + 1) << 20},
                            {"processes", nlohmann::json::array()}});
  return whole;
}

}  // namespace lockstep::testing
