// Requests to stop: signals and time quotas, as a rank sees them.
#pragma once

#include "core/base/clock.h"
#include "core/config/options.h"

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
  // Whether it is over, or will be after more_s more.
  bool over(double more_s = 0) const;
  // Seconds allowed from the beginning of this object; 0 = no limit.
  double allowed_s() const { return allowed_s_; }
  // Seconds that are left to train; infinite without a limit, below 0 once it is over.
  double left_s() const;
  // Likewise with what is kept for what follows training.
  double left_in_all_s() const;
  // Keeps so much for the predictions that follow, where that is clearly more than is kept already,
  // and no more than half of the time of this start. Whether it changed anything.
  bool keep_for_predictions(double seconds);
  // "stop.after = 8h30m is over", "stop.budget = 1d is spent but for stop.reserve = 1h"
  std::string reason() const;

 private:
  void find_allowed();
  std::string kept_text() const;

  Clock& clock_;
  QuotaLimits limits_;
  double begin_s_, spent_s_, begun_s_, allowed_s_ = 0;
  bool after_decides_ = false;
  bool keeps_for_predictions_ = false;  // the reserve is what they were found to need
};

}  // namespace lockstep
