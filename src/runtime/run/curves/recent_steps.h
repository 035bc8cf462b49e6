// The mean time of a run's newest steps. The time of a single step is not reliable, because data
// arrives in bursts, and the GPU runs behind the host.
#pragma once

#include <deque>
#include <optional>

namespace lockstep {

// Each entry is the time of one or more consecutive steps. Keeps the newest entries that together
// span at least 20 steps and 10 s. The first entry includes one-time work, such as loading kernels.
// So it is dropped when the second entry arrives.
class RecentSteps {
 public:
  // Adds an entry: `steps` steps took `seconds`, including data_s seconds of waiting for data. A
  // step with fewer samples than usual counts as a fraction of a step.
  void add(double steps, double seconds, double data_s = 0);
  std::optional<double> step_s() const;  // mean seconds per step; nothing before the first entry
  double data_share() const;  // share of the time spent waiting for data; 0 before the first entry

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
