// Makes the devices of CPU ranks, which share the cores of the host.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/devices/device.h"
#include "core/devices/gpus/gpu_probe.h"

namespace lockstep {

constexpr int most_cpu_ranks = 1024;

std::vector<Device> cpu_ranks(int ranks, const HostInfo& host);
std::vector<Device> default_cpu_ranks(const HostInfo& host);  // 2 ranks, or 1 on one core

// Parses "cpu" and "cpu:4". Returns nothing for any spec without "cpu". Throws Error for an invalid
// number, as in "cpu:0" and "cpu:x".
std::optional<std::vector<Device>> parse_cpu_ranks(std::string_view spec, const HostInfo& host);

}  // namespace lockstep
