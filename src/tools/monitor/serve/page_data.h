// Writes the data of the page as JSON: the history of the samples, as columns.
#pragma once

#include <string>
#include <vector>

#include "tools/monitor/live/history.h"

namespace lockstep {

// The state of the monitor. It is sent with each reply, so that the page can distinguish old values
// from new ones.
struct PageStatus {
  // Start of this monitor in Unix time. A new value tells the page that another monitor has begun,
  // and that sample numbers begin at 1 again.
  double start_s = 0;
  double interval_s = 0;  // interval between samples
  double age_s = 0;       // age of the newest sample; below 0 if there is none yet
  double hanging_s = 0;   // duration of the driver call in progress
};

// Returns the samples after number `after`, the oldest first, as {"start", "interval_s", "age_s",
// "hanging_s", "newest": NUMBER, "gpus": [{"gpu", "uuid", "name"}], "metrics": {NAME: {"unit",
// "meaning", "scale"}}, "time": [UNIX SECONDS], "values": {NAME: [a column per GPU]}}
//
// A value is the metric's value divided by "scale", and rounded. It is null if it was not measured.
// A column without any measurement is null as a whole.
std::string history_json(const std::vector<GpuInfo>& gpus, const History& history, long long after,
                         const PageStatus& status);

}  // namespace lockstep
