// Ranks that share the cores of the host.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/devices/device.h"
#include "core/devices/gpus/gpu_probe.h"

namespace lockstep {

constexpr int most_cpu_ranks = 1024;

std::vector<Device> cpu_ranks(int ranks, const HostInfo& host);
std::vector<Device> default_cpu_ranks(const HostInfo& host);  // 2, or 1 on one core

// Parses "cpu" and "cpu:4"; nothing for other specs. Throws Error for "cpu:0", "cpu:x".
std::optional<std::vector<Device>> parse_cpu_ranks(std::string_view spec, const HostInfo& host);

}  // namespace lockstep
