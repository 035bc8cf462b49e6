// Devices, facts and options that the tests of the plan start from.
#pragma once

#include "planning/plan.h"

#include <string>
#include <vector>

namespace lockstep {

constexpr double gib = 1024.0 * 1024 * 1024;

inline std::vector<Device> devices_like(Device device, int count, double memory_gib) {
  device.memory_bytes = static_cast<std::uint64_t>(memory_gib * gib);
  std::vector<Device> devices(count, device);
  for (int index = 0; index < count; ++index) devices[index].index = index;
  return devices;
}

inline std::vector<Device> gpus(int count, double memory_gib = 16) {
  Device device;
  device.kind = DeviceKind::cuda;
  device.name = "Tesla T4";
  return devices_like(device, count, memory_gib);
}

inline std::vector<Device> cpu_ranks(int count, double share_gib = 4) {
  Device device;
  device.kind = DeviceKind::cpu;
  device.name = "CPU";
  device.threads = 2;
  return devices_like(device, count, share_gib);
}

inline Facts text_facts() {
  return {.train_samples = 1000,
          .valid_samples = 50,
          .unit = "tokens",
          .units_per_sample = 512,
          .parameters = 1000000,
          .default_global = 64};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline bool has_note(const Plan& plan, const std::string& part) {
  for (const std::string& note : plan.notes)
    if (contains(note, part)) return true;
  return false;
}

}  // namespace lockstep
