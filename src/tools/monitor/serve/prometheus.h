// A sample as text for Prometheus, in base units. Only measured values have a series.
#pragma once

#include <string>
#include <vector>

#include "tools/monitor/sample_text.h"

namespace lockstep {

// Lockstep's figures about itself.
struct MonitorStatus {
  long long samples = 0;      // taken so far
  double age_s = 0;           // of the newest; valid only if there is one
  double interval_s = 0;      // the requested interval
  double hanging_s = 0;       // duration of the driver call in progress; 0: none
  double driver_s = 0;        // time in driver calls for the newest sample
  double cpu_s = 0;           // processor time of this process
  double resident_bytes = 0;  // memory of this process
  double start_s = 0;         // start time of this process, unix time
};

// The most series per GPU for processes: those with the most memory come first.
constexpr std::size_t most_processes_per_gpu = 64;

// gpus: those of the sample, in its order. A GPU that is named twice has its series once.
std::string prometheus_gpus(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                            const FindProcess& find);
std::string prometheus_status(const MonitorStatus& status);

// Every series as a table in Markdown: name, type, labels, meaning.
std::string prometheus_reference();

}  // namespace lockstep
