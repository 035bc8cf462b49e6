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

// The time a run may take: `after` since this start began, `budget` over all starts. Training stops
// `reserve` before either is over.
struct QuotaLimits {
  Duration after{}, budget{}, reserve{};  // 0 s: none
};

class Quota {
 public:
  // From now on. spent_s: what earlier starts took; begun_s: what this one has taken already, which
  // counts for `after` alone.
  Quota(Clock& clock, const QuotaLimits& limits, double spent_s, double begun_s = 0);
  double elapsed_s() const;  // over all starts
  bool over() const;
  // Seconds allowed from the beginning of this object; 0 = no limit.
  double allowed_s() const { return allowed_s_; }
  // "stop.after = 8h30m is over", "stop.budget = 1d is spent but for stop.reserve = 1h"
  std::string reason() const;

 private:
  Clock& clock_;
  QuotaLimits limits_;
  double begin_s_, spent_s_, allowed_s_ = 0;
  bool after_decides_ = false;
};

}  // namespace lockstep
