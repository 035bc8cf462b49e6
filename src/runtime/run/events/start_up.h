// Measures how long a run takes to start: from the command to the first finished step.
#pragma once

#include "core/base/clock.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// A stopwatch for consecutive parts of the start. The parts have no gaps, so they add up to the
// whole. The environment variable LOCKSTEP_START tells when the command began, before this process
// existed. Not thread-safe.
class StartUp {
 public:
  // variable: the value of LOCKSTEP_START, or null. If it is given, two parts are recorded at once:
  // `tool`, from the command to the launch, and `worker`, from the launch to now. A value that is
  // damaged, or in the future of this machine's clock, is ignored.
  StartUp(Clock& clock, const char* variable);
  // Adds the time since the last call of `done` to the part `part`. The first call measures from
  // the construction of this object.
  void done(const std::string& part);
  double seconds() const;  // the sum of all parts
  // Seconds that the command used before this start, for example to train other runs. seconds()
  // does not include them, but the limit stop.after does.
  double earlier_s() const { return earlier_s_; }
  // Returns {"seconds", "parts": [["tool", 0.2], …]}. The parts are in the order in which they were
  // recorded.
  nlohmann::json to_json() const;

 private:
  Clock& clock_;
  double last_s_, earlier_s_ = 0;
  std::vector<std::pair<std::string, double>> parts_;
};

// Returns the value of LOCKSTEP_START for ranks that are launched at now_s. begin_s: the time at
// which the command began. Both are times of the system's monotonic clock. earlier_s: see
// StartUp::earlier_s.
std::string start_variable(double begin_s, double now_s, double earlier_s = 0);

}  // namespace lockstep
