// The mean time of a step since the process began to train the run.
#pragma once

#include <optional>

namespace lockstep {

// Steps are logged in windows of consecutive steps. The mean leaves out the first window, which
// includes one-time work such as loading kernels and capturing a CUDA graph. If there is only the
// first window, the mean is over its steps.
class MeanStep {
 public:
  // Adds a logged window: the number of steps, and their time without evaluations. A step with
  // fewer samples than usual counts as a fraction of a step.
  void add(double steps, double seconds);
  std::optional<double> seconds() const;  // nothing before the first window

 private:
  double first_steps_ = 0, steps_ = 0;
  double first_s_ = 0, sum_s_ = 0;
};

}  // namespace lockstep
