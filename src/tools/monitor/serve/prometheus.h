// Writes a sample as text for Prometheus, in base units (seconds, bytes). Only measured values have
// a time series.
#pragma once

#include <string>
#include <vector>

#include "tools/monitor/sample_text.h"

namespace lockstep {

// Values about this process of Lockstep.
struct MonitorStatus {
  long long samples = 0;      // number of samples so far
  double age_s = 0;           // age of the newest sample; below 0 if there is none
  double interval_s = 0;      // the requested interval
  double hanging_s = 0;       // duration of the driver call in progress; 0 if there is none
  double driver_s = 0;        // time in driver calls for the newest sample
  double cpu_s = 0;           // processor time of this process
  double resident_bytes = 0;  // memory of this process
  double start_s = 0;         // start of this process in Unix time
};

// The largest number of processes per GPU that have series. Processes with more memory take
// precedence.
constexpr std::size_t most_processes_per_gpu = 64;

// gpus: the GPUs of the sample, in its order. A GPU that occurs twice is written once.
std::string prometheus_gpus(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                            const FindProcess& find);
std::string prometheus_status(const MonitorStatus& status);

// Returns all series as a table in Markdown: name, type, labels and meaning.
std::string prometheus_reference();

}  // namespace lockstep
