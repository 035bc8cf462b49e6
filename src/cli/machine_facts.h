// The machine that something was measured on, and how busy it is.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "devices/device.h"

namespace lockstep::cli {

// {"host", "system", "cpu", "cores", "memory_bytes", "gpus": [{"uuid", "name", "index"}],
// "driver"}.
nlohmann::json machine_facts(const std::vector<Device>& gpus);

// Seconds that processors of the machine worked since it was started, for anybody. Nothing where
// /proc does not say.
std::optional<double> busy_s(const std::filesystem::path& stat = "/proc/stat");
std::optional<double> load_average();  // of the last minute

}  // namespace lockstep::cli
