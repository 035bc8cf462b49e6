// The mean time of a run's newest steps. The time of a single step says little, because data comes
// in bursts and the host learns late that a step is done.
#pragma once

#include <deque>
#include <optional>

namespace lockstep {

// Keeps the newest entries that together span at least 20 steps and 10 s. The first entry of a
// start includes one-time work, such as loading kernels. So it is dropped when the second one
// arrives.
class RecentSteps {
 public:
  // `steps` steps took `seconds`, with data_s seconds of waiting for data. A step with fewer
  // samples counts as a fraction of a step.
  void add(double steps, double seconds, double data_s = 0);
  std::optional<double> step_s() const;  // the mean; nothing before the first entry
  double data_share() const;             // 0 before the first entry

 private:
  struct Entry {
    double steps = 0, seconds = 0, data_s = 0;
  };
  void drop_oldest();

  std::deque<Entry> entries_;
  Entry sum_;
  bool only_the_first_ = true;
};

}  // namespace lockstep
