// Facts about the measuring machine, and how busy it is.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "core/devices/device.h"

namespace lockstep::cli {

// {"host", "system", "cpu", "cores", "memory_bytes", "gpus": [{"uuid", "name", "index"}],
// "driver"}.
nlohmann::json machine_facts(const std::vector<Device>& gpus);

// Seconds that all processors have worked for all processes since the machine started. Nothing if
// /proc does not report it.
std::optional<double> busy_s(const std::filesystem::path& stat = "/proc/stat");
std::optional<double> load_average();  // over the last minute

}  // namespace lockstep::cli
