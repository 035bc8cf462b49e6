// Requests to stop: signals and time quotas, as a rank sees them.
#pragma once

#include "core/base/clock.h"
#include "core/config/options.h"

#include <filesystem>
#include <string>

namespace lockstep {

// Catches SIGINT, SIGTERM and SIGUSR1 for the process. The first signal asks for a stop at the next
// step boundary. If the same SIGINT or SIGTERM comes again, it ends the process at once with exit
// code 130. A different signal after the first does not end it (torchrun passes an interrupt on as
// SIGTERM). A repetition within 0.2 s does not end it either.
void catch_stop_signals();
// For processes in which nothing else can record that a second signal ended the run. The signal
// handler then writes `state_file` (a run's state.json). Call it once, before signals are caught.
// Paths of more than 4000 bytes are ignored.
void note_second_signal_in(const std::filesystem::path& state_file);
// Name of the signal that asked for a stop, or "".
std::string stop_signal();

// The time that a run may take: `after` since this start began, `budget` over all starts. Training
// stops when `reserve` is left of either.
struct QuotaLimits {
  Duration after{}, budget{}, reserve{};  // 0 s: none
};

class Quota {
 public:
  // The quota counts from now on. spent_s: the time that earlier starts took. begun_s: the time
  // that this start has already taken, which counts only for `after`.
  Quota(Clock& clock, const QuotaLimits& limits, double spent_s, double begun_s = 0);
  double elapsed_s() const;  // the time over all starts
  // Whether the quota is spent, or will be spent in more_s seconds.
  bool over(double more_s = 0) const;
  // Seconds allowed from the beginning of this object; 0 = no limit.
  double allowed_s() const { return allowed_s_; }
  // Seconds that are left for training. Infinite without a limit, and below 0 when the quota is
  // spent.
  double left_s() const;
  // The same, including the time that is kept for the work after training.
  double left_in_all_s() const;
  // Keeps this time for the predictions after training, if it is clearly more than is kept already.
  // Keeps at most half of the time of this start. Returns whether it changed anything.
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
  // The reserve is the time that predictions were found to need.
  bool keeps_for_predictions_ = false;
};

}  // namespace lockstep
