// The mean time of a step over a whole start of a run.
#pragma once

#include <optional>

namespace lockstep {

// The mean over all steps except those of the first logged window. That window includes one-time
// work, such as loading kernels and capturing a CUDA graph. If there is no other window, it is
// used.
class MeanStep {
 public:
  // Adds a logged window, without evaluations. A step with fewer samples counts as a fraction of a
  // step.
  void add(double steps, double seconds);
  std::optional<double> seconds() const;  // nothing before the first window

 private:
  double first_steps_ = 0, steps_ = 0;
  double first_s_ = 0, sum_s_ = 0;
};

}  // namespace lockstep
