// The doctor inside a live view: findings about one process from the samples as they come.
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
  // machine: makes evidence as evidence_of() does. It is called on its own thread at the first
  // question about a process, since the driver may hang. That thread is detached at the end, so
  // `machine` must own everything it uses.
  explicit LiveDoctor(std::function<Evidence()> machine) : machine_(std::move(machine)) {}
  void add(const MonitorSample& sample);  // of the GPUs of `machine`
  // Findings about the process and its descendants since the first call, or a note that it is still
  // looking. Takes some milliseconds, as it reads /proc, and never waits for the driver.
  std::string text(int pid, int width);
  // Whether the thread of `machine` is calling the driver now. NVML then cannot be shut down at the
  // program's end.
  bool is_asking() const;

 private:
  bool is_ready();

  std::function<Evidence()> machine_;
  std::future<Evidence> answer_;
  std::optional<Evidence> evidence_;
  std::string failed_;  // why `machine` failed
  double asked_s_ = 0;
  std::deque<MonitorSample> newest_;
  int pid_ = 0;  // process of the first snapshot
};

}  // namespace lockstep
