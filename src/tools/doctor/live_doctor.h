// The doctor inside the live view of `lockstep monitor`. It reports findings about one process,
// from the samples of the view.
#pragma once

#include <deque>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include "tools/doctor/evidence/evidence.h"

namespace lockstep {

class LiveDoctor {
 public:
  // machine: returns the evidence about the devices, as evidence_of() does. It is called at the
  // first call of text(), and at most once a minute after that. It runs on a detached thread,
  // because the driver may hang. So `machine` must own everything that it uses.
  explicit LiveDoctor(std::function<Evidence()> machine) : machine_(std::move(machine)) {}
  void add(const MonitorSample& sample);  // a sample of the GPUs of `machine`
  // Returns the findings about the process and its descendants, or a note that there are none yet.
  // The observation begins again if `pid` is another process than in the last call. Reads /proc,
  // which takes some milliseconds. Never waits for the driver.
  std::string text(int pid, int width);
  // Whether `machine` is running. NVML then cannot be shut down at the end of the program.
  bool is_asking() const;

 private:
  bool is_ready();

  std::function<Evidence()> machine_;
  std::future<Evidence> answer_;
  std::optional<Evidence> evidence_;
  std::string failed_;  // why `machine` failed
  double asked_s_ = 0;
  std::deque<MonitorSample> newest_;
  int pid_ = 0;  // process about which text() was called last
};

}  // namespace lockstep
