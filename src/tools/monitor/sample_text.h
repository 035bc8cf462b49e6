// A sample as a table, as CSV lines, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/monitor/process_info.h"
#include "tools/monitor/sampler.h"

namespace lockstep {

// gpus: those of the sample, in its order. A missing value is never 0: "n/a" if the GPU does not
// report it, "-" if there is no sample.
std::string sample_table(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                         const FindProcess& find);

// A line per GPU: time (unix seconds), gpu, uuid, name, and a column per metric. A cell is
// "unsupported", or empty if there is no sample.
std::string csv_head();
std::string csv_lines(const std::vector<GpuInfo>& gpus, const MonitorSample& sample);

// With state, source, period and age of every value; "value" only if measured. Ages are as of
// now_s, or as of the end of the sample.
nlohmann::json sample_json(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                           const FindProcess& find, std::optional<double> now_s = std::nullopt);

}  // namespace lockstep
