// Requests to stop: signals and time quotas, as a rank sees them.
#pragma once

#include "base/clock.h"
#include "config/options.h"

#include <filesystem>
#include <string>

namespace lockstep {

// Catches SIGINT, SIGTERM and SIGUSR1 for the process: the first asks for a stop at the next step
// boundary; the same SIGINT or SIGTERM again ends the process at once with exit code 130. Another
// signal after the first (torchrun passes an interrupt on as SIGTERM) and an echo within 0.2 s do
// not.
void catch_stop_signals();
// Where nobody else can write down that a second signal ended the run: the handler then writes
// `state_file` (a run's state.json). Once, before signals are caught. Paths of more than 4000 bytes
// are passed over.
void note_second_signal_in(const std::filesystem::path& state_file);
// Name of the signal that asked for a stop, or "".
std::string stop_signal();

// The time a run may take: `after` since this start, `budget` over all starts.
class Quota {
 public:
  // spent_s: what earlier starts took.
  Quota(Clock& clock, Duration after, Duration budget, double spent_s);
  double elapsed_s() const;  // over all starts
  bool over() const;
  // Seconds allowed to this start in all; 0 = no limit.
  double allowed_s() const { return allowed_s_; }
  std::string reason() const;  // "stop.after = 8h30m is over"

 private:
  Clock& clock_;
  Duration after_, budget_;
  double begin_s_, spent_s_, allowed_s_ = 0;
};

}  // namespace lockstep
