// The doctor beside a live view: what it says of one process, of the samples as they come.
#pragma once

#include <deque>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include "doctor/evidence.h"

namespace lockstep {

class LiveDoctor {
 public:
  // machine: as evidence_of() gives it; asked in a thread of its own when a process is first asked
  // about, since the driver may hang. That thread is left to itself at the end: machine must own
  // what it uses.
  explicit LiveDoctor(std::function<Evidence()> machine) : machine_(std::move(machine)) {}
  void add(const MonitorSample& sample);  // of the GPUs of `machine`
  // Findings about the process and those below it, since it was first asked about, or that it is
  // looking; takes some milliseconds, as it reads /proc, and never waits for the driver.
  std::string text(int pid, int width);
  // Whether that thread asks the driver now: then the program cannot shut NVML down at its end.
  bool is_asking() const;

 private:
  bool is_ready();

  std::function<Evidence()> machine_;
  std::future<Evidence> answer_;
  std::optional<Evidence> evidence_;
  std::string failed_;  // why there was none
  double asked_s_ = 0;
  std::deque<MonitorSample> newest_;
  int pid_ = 0;  // that the first snapshot is for
};

}  // namespace lockstep
