// Collects facts about this machine for records of measurements. Also measures how busy the machine
// is.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "core/devices/device.h"

namespace lockstep::cli {

// Returns {"host", "system", "cpu", "cores", "memory_bytes", "gpus": [{"uuid", "name", "index"}],
// "driver"}.
nlohmann::json machine_facts(const std::vector<Device>& gpus);

// Returns the CPU seconds of all processes on all cores since the machine started. Returns nothing
// if /proc does not report them.
std::optional<double> busy_s(const std::filesystem::path& stat = "/proc/stat");
std::optional<double> load_average();  // load average of the last minute; nothing if unknown

}  // namespace lockstep::cli
