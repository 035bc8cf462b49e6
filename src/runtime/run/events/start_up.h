// Where the time of a start went, from the command to the first finished step.
#pragma once

#include "core/base/clock.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// A stopwatch over consecutive parts without gaps, so they add up to the whole. One thread. The
// variable LOCKSTEP_START carries the time before this process.
class StartUp {
 public:
  // variable: the value of LOCKSTEP_START or null. With it, the parts `tool` (from the command to
  // the launch) and `worker` (from there to now) are already recorded. A value that is damaged or
  // from another machine's clock is ignored.
  StartUp(Clock& clock, const char* variable);
  // Assigns the time since the last call, or since the beginning, to `part`.
  void done(const std::string& part);
  double seconds() const;  // the sum of all parts
  // Time that the command spent before this start, such as on other trainings. It is no part of the
  // start, but stop.after counts it.
  double earlier_s() const { return earlier_s_; }
  // {"seconds", "parts": [["tool", 0.2], …]}, in the order of the calls.
  nlohmann::json to_json() const;

 private:
  Clock& clock_;
  double last_s_, earlier_s_ = 0;
  std::vector<std::pair<std::string, double>> parts_;
};

// The value of LOCKSTEP_START for ranks that are launched now. begin_s: when the command began, on
// the system's monotonic clock. earlier_s: as in StartUp.
std::string start_variable(double begin_s, double now_s, double earlier_s = 0);

}  // namespace lockstep
