// A sample as text for Prometheus: base units, a series only for what was measured.
#pragma once

#include <string>
#include <vector>

#include "monitor/sample_text.h"

namespace lockstep {

// What Lockstep says of itself.
struct MonitorStatus {
  long long samples = 0;      // taken so far
  double age_s = 0;           // of the newest; only if there is one
  double interval_s = 0;      // that was asked for
  double hanging_s = 0;       // how long a driver call has been under way; 0: none is
  double driver_s = 0;        // that the driver's calls took for the newest sample
  double cpu_s = 0;           // processor time of this process
  double resident_bytes = 0;  // memory of this process
  double start_s = 0;         // of this process, unix time
};

// Beyond, processes have no series: those with the most memory come first.
constexpr std::size_t most_processes_per_gpu = 64;

// gpus: of the sample's, in its order; one that is named twice has its series once.
std::string prometheus_gpus(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                            const FindProcess& find);
std::string prometheus_status(const MonitorStatus& status);

// Every series as a table in Markdown: name, type, labels, meaning.
std::string prometheus_reference();

}  // namespace lockstep
