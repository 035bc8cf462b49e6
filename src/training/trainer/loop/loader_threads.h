// Decides how many threads load a rank's training data.
#pragma once

#include <cstdint>
#include <optional>

namespace lockstep {

// asked: the option data.threads. If the option is 0 or more, it is the number of threads, which
// then never changes. If the option is negative, the number begins at 1 and may grow. It grows
// after a window of 20 steps if these steps spent more than 2 % of their time waiting for data. The
// new number is estimated such that steps need not wait. It is at least one more and at most four
// times as many as before, but never more than `most`. The object outlives loaders, so a later
// loader starts with the number that was found.
class LoaderThreads {
 public:
  LoaderThreads(std::int64_t asked, std::int64_t most);

  std::int64_t count() const { return count_; }
  // Adds time that the rank waited for data. It may be called several times per step.
  void waited(double seconds) { waited_s_ += seconds; }
  // Call it when a step ends. now_s: the time on any clock, which must be the same in all calls. If
  // the step ends a window and more threads are needed, count() grows. In this case, returns the
  // fraction of the window's time that was spent waiting for data. Returns nothing if count() does
  // not change.
  std::optional<double> step_done(double now_s);

 private:
  bool fixed_;
  std::int64_t most_, count_;
  std::int64_t steps_ = 0;  // steps in this window so far
  double waited_s_ = 0;
  // When this window began; empty in the first window, after which the number never grows.
  std::optional<double> begin_s_;
};

}  // namespace lockstep
