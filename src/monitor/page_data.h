// What the page draws, as JSON: the history in columns.
#pragma once

#include <string>
#include <vector>

#include "monitor/history.h"

namespace lockstep {

// What goes with every answer, so that the page can tell an old value from a new one.
struct PageStatus {
  double start_s = 0;     // of this monitor, unix time: another one counts its samples anew
  double interval_s = 0;  // between samples
  double age_s = 0;       // of the newest sample; below 0: there is none yet
  double hanging_s = 0;   // how long a driver call has been under way
};

// Of the samples after number `after`, oldest first:
// {"start", "interval_s", "age_s", "hanging_s", "newest": NUMBER,
//  "gpus": [{"gpu", "uuid", "name"}], "metrics": {NAME: {"unit", "meaning", "scale"}},
//  "time": [UNIX SECONDS], "values": {NAME: [a column per GPU]}}
// A value is in the metric's unit over its scale, rounded; null where it was not measured, and a
// whole column is null where none was.
std::string history_json(const std::vector<GpuInfo>& gpus, const History& history, long long after,
                         const PageStatus& status);

}  // namespace lockstep
