// A sample as a table, as lines of CSV, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "monitor/process_info.h"
#include "monitor/sampler.h"

namespace lockstep {

// gpus: of the sample's, in its order. Never 0 for what was not measured: "n/a" where the GPU does
// not tell, "-" where there is no sample.
std::string sample_table(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                         const FindProcess& find);

// A line per GPU: time (unix seconds), gpu, uuid, name, and a column per metric; "unsupported", or
// an empty cell where there is no sample.
std::string csv_head();
std::string csv_lines(const std::vector<GpuInfo>& gpus, const MonitorSample& sample);

// With state, source, period and age of every value; "value" only of what was measured. Ages are
// those at now_s, or when the sample was whole.
nlohmann::json sample_json(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                           const FindProcess& find, std::optional<double> now_s = std::nullopt);

}  // namespace lockstep
