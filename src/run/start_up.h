// What a start was spent on, from the command to the first finished step.
#pragma once

#include "base/clock.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// A stopwatch over parts that follow each other without gaps, so they add up to the whole. One
// thread. The variable LOCKSTEP_START hands over what was before this process.
class StartUp {
 public:
  // variable: the value of LOCKSTEP_START or null. With it the parts `tool` (from the command to
  // the launch) and `worker` (from there to now) are over; a value that is damaged or of another
  // machine's clock counts as none.
  StartUp(Clock& clock, const char* variable);
  // The time since the last call, or since the beginning, belongs to `part`.
  void done(const std::string& part);
  double seconds() const;  // of all parts
  // What the command did before this start, such as other trainings: no part of it, but stop.after
  // counts it.
  double earlier_s() const { return earlier_s_; }
  // {"seconds", "parts": [["tool", 0.2], …]}, in the order in which they came.
  nlohmann::json to_json() const;

 private:
  Clock& clock_;
  double last_s_, earlier_s_ = 0;
  std::vector<std::pair<std::string, double>> parts_;
};

// The value of LOCKSTEP_START for ranks that are launched now; begin_s: of the command, on the
// system's monotonic clock. earlier_s: as StartUp has it.
std::string start_variable(double begin_s, double now_s, double earlier_s = 0);

}  // namespace lockstep
