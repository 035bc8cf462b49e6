// Writes the result of `lockstep bench` as JSON and as text.
#pragma once

#include "runtime/run/progress/scaling_table.h"
#include "tools/cli/bench/bench_setup.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

nlohmann::json report_json(const Bench& bench, const std::vector<ScalingRow>& rows);
std::string report_text(const Bench& bench, const std::vector<ScalingRow>& rows);

std::string count_text(const Bench& bench, int count);  // "2 GPUs"

}  // namespace lockstep::cli
