// Measures the parts of a start, from the command to the first finished step.
#pragma once

#include "core/base/clock.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// A stopwatch over consecutive parts without gaps, so that they add up to the whole. Not
// thread-safe. The variable LOCKSTEP_START passes the time before this process.
class StartUp {
 public:
  // variable: the value of LOCKSTEP_START, or null. If it is given, the parts `tool` (from the
  // command to the launch) and `worker` (from the launch to now) are already recorded. A damaged
  // value, or one from another machine's clock, is ignored.
  StartUp(Clock& clock, const char* variable);
  // Assigns the time since the last call to `part`. The first call counts from the construction.
  void done(const std::string& part);
  double seconds() const;  // the sum of all parts
  // Seconds that the command used before this start, for example for other trainings. They are not
  // part of the start, but stop.after includes them.
  double earlier_s() const { return earlier_s_; }
  // {"seconds", "parts": [["tool", 0.2], …]}, in the order of the calls.
  nlohmann::json to_json() const;

 private:
  Clock& clock_;
  double last_s_, earlier_s_ = 0;
  std::vector<std::pair<std::string, double>> parts_;
};

// The value of LOCKSTEP_START for ranks that are launched now. begin_s: when the command began, on
// the system's monotonic clock. earlier_s: see StartUp::earlier_s.
std::string start_variable(double begin_s, double now_s, double earlier_s = 0);

}  // namespace lockstep
