// How many threads load a rank's training data.
#pragma once

#include <cstdint>
#include <optional>

namespace lockstep {

// `asked` of them (data.threads), or where that is negative: one, and more whenever the steps of a
// window waited for data for more than 2 % of their time, up to `most`: as many as would load in
// the time of the steps alone, at least one more and at most four times as many. Outlives loaders,
// so that a later one starts with what was found.
class LoaderThreads {
 public:
  LoaderThreads(std::int64_t asked, std::int64_t most);

  std::int64_t count() const { return count_; }
  // Since the last step. May be called several times a step.
  void waited(double seconds) { waited_s_ += seconds; }
  // A step is over at `now_s`, of any clock. Where it ends a window after which one more is needed,
  // count() grows, and the share of time that the window waited for data is returned.
  std::optional<double> step_done(double now_s);

 private:
  bool fixed_;
  std::int64_t most_, count_;
  std::int64_t steps_ = 0;  // of this window
  double waited_s_ = 0;
  std::optional<double> begin_s_;  // the first window only warms up
};

}  // namespace lockstep
