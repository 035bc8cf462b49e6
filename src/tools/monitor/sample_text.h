// Writes a sample as a table, as CSV lines or as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/monitor/process_info.h"
#include "tools/monitor/sampler.h"

namespace lockstep {

// gpus: the GPUs of the sample, in its order. A missing value is "n/a" if the GPU does not report
// the metric, and "-" if this sample lacks it. It is never 0.
std::string sample_table(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                         const FindProcess& find);

// Returns a line per GPU: time (Unix seconds), gpu, uuid, name, and a column per metric. The cell
// of a missing value is "unsupported" if the GPU does not report the metric, and empty if this
// sample lacks it.
std::string csv_head();
std::string csv_lines(const std::vector<GpuInfo>& gpus, const MonitorSample& sample);

// Returns the state, source, period and age of each value. "value" is present only if it was
// measured. Ages are relative to now_s, or to the end of the sample if now_s is not set.
nlohmann::json sample_json(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                           const FindProcess& find, std::optional<double> now_s = std::nullopt);

}  // namespace lockstep
