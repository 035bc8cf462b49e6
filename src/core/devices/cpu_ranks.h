// Makes the devices of ranks that train on the CPU. These ranks share the cores of the host.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/devices/device.h"
#include "core/devices/gpus/gpu_probe.h"

namespace lockstep {

constexpr int most_cpu_ranks = 1024;

std::vector<Device> cpu_ranks(int ranks, const HostInfo& host);
// 2 ranks, or 1 rank if the host has one core
std::vector<Device> default_cpu_ranks(const HostInfo& host);

// Parses "cpu" (default_cpu_ranks) and "cpu:4" (4 ranks). Throws Error for an invalid number, as in
// "cpu:0" and "cpu:x". Returns nothing for any other text.
std::optional<std::vector<Device>> parse_cpu_ranks(std::string_view spec, const HostInfo& host);

}  // namespace lockstep
