// Decides how many threads load a rank's training data.
#pragma once

#include <cstdint>
#include <optional>

namespace lockstep {

// The number is `asked` (data.threads). If `asked` is negative, the number begins at one. It grows
// when the steps of a window waited for data for more than 2 % of their time. The new number is the
// one that would load the data within the time of the steps themselves. It is at least one more and
// at most four times as many, and never more than `most`. This object outlives loaders, so that a
// later loader starts with the number found.
class LoaderThreads {
 public:
  LoaderThreads(std::int64_t asked, std::int64_t most);

  std::int64_t count() const { return count_; }
  // Adds time that the rank waited since the last step. May be called several times per step.
  void waited(double seconds) { waited_s_ += seconds; }
  // Call it when a step ended at `now_s`, on any one clock. If this step ends a window and more
  // threads are needed, count() grows. Then it returns the share of the window's time that was
  // spent waiting for data.
  std::optional<double> step_done(double now_s);

 private:
  bool fixed_;
  std::int64_t most_, count_;
  std::int64_t steps_ = 0;  // number of steps of this window
  double waited_s_ = 0;
  std::optional<double> begin_s_;  // the first window only warms up
};

}  // namespace lockstep
