// Catches signals that ask a rank to stop, and measures time quotas (stop.after, stop.budget).
#pragma once

#include "core/base/clock.h"
#include "core/config/options.h"

#include <filesystem>
#include <string>

namespace lockstep {

// Catches SIGINT, SIGTERM, SIGHUP and SIGUSR1 in this process. SIGHUP is not caught if the process
// already ignores it, as under nohup. The first signal requests a stop at the next step boundary.
// The same signal again, except SIGUSR1, ends the process at once with exit code 130. A repetition
// within 0.2 s is ignored. A different signal does not end the process, because torchrun passes an
// interrupt on as SIGTERM.
void catch_stop_signals();
// Lets the signal handler write state_file (a run's state.json) when a second signal ends the
// process. Call it only if the `lockstep` tool did not start this process, because the tool records
// this end itself. Call it once, before catch_stop_signals. A path of more than 4000 bytes is
// ignored.
void note_second_signal_in(const std::filesystem::path& state_file);
// Returns the name of the signal that requested a stop, or "" if no signal did.
std::string stop_signal();

// The time that a run may take. A start is the first training of a run, or a training that resumes
// it. `after` limits the time since this start began. `budget` limits the time over all starts of
// the run. Training stops when only `reserve` is left of one of these limits.
struct QuotaLimits {
  Duration after{}, budget{}, reserve{};  // 0 s: no limit
};

class Quota {
 public:
  // The quota measures time from now on.
  //   spent_s: the time that earlier starts took, which counts for `budget`
  //   begun_s: the time that this start has already taken, which counts for `after`
  Quota(Clock& clock, const QuotaLimits& limits, double spent_s, double begun_s = 0);
  double elapsed_s() const;  // seconds over all starts
  // Whether the quota is spent, or will be spent within more_s seconds.
  bool over(double more_s = 0) const;
  // Seconds that training may take from the construction of this object; 0 if there is no limit.
  double allowed_s() const { return allowed_s_; }
  // Seconds that are left for training. The result is infinite without a limit, and below 0 if the
  // quota is exceeded.
  double left_s() const;
  // The result of left_s() plus the time that is reserved for the work after training.
  double left_in_all_s() const;
  // Reserves `seconds` for the predictions after training, if this is more than 1.05 times the
  // present reserve. Reserves at most half of the time that this start may take. Returns whether
  // the reserve changed.
  bool keep_for_predictions(double seconds);
  // Returns the reason for a stop, such as "stop.after = 8h30m is over" or "stop.budget = 1d is
  // spent but for stop.reserve = 1h".
  std::string reason() const;

 private:
  void find_allowed();
  std::string kept_text() const;

  Clock& clock_;
  QuotaLimits limits_;
  double begin_s_, spent_s_, begun_s_, allowed_s_ = 0;
  bool after_decides_ = false;
  // Whether keep_for_predictions has set the reserve.
  bool keeps_for_predictions_ = false;
};

}  // namespace lockstep
