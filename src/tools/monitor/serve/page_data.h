// The page's data as JSON: the history in columns.
#pragma once

#include <string>
#include <vector>

#include "tools/monitor/live/history.h"

namespace lockstep {

// Sent with every reply, so that the page can tell old values from new ones.
struct PageStatus {
  double start_s = 0;     // when this monitor started, unix time; another monitor numbers its
                          // samples anew
  double interval_s = 0;  // between samples
  double age_s = 0;       // of the newest sample; below 0 if there is none yet
  double hanging_s = 0;   // duration of the driver call in progress
};

// The samples after number `after`, oldest first: {"start", "interval_s", "age_s", "hanging_s",
// "newest": NUMBER, "gpus": [{"gpu", "uuid", "name"}], "metrics": {NAME: {"unit", "meaning",
// "scale"}}, "time": [UNIX SECONDS], "values": {NAME: [a column per GPU]}}
//
// A value is in the metric's unit over its scale, rounded. It is null if it was not measured; a
// column without any measurement is null.
std::string history_json(const std::vector<GpuInfo>& gpus, const History& history, long long after,
                         const PageStatus& status);

}  // namespace lockstep
