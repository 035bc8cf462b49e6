// The mean time of a step over a whole start of a run.
#pragma once

#include <optional>

namespace lockstep {

// The mean over all steps but those of the first logged window, which includes one-time work:
// loading kernels, capturing a graph. If there is no other window, the first one counts.
class MeanStep {
 public:
  // A logged window, without evaluations. A step with fewer samples counts as a part of a step.
  void add(double steps, double seconds);
  std::optional<double> seconds() const;  // nothing before the first window

 private:
  double first_steps_ = 0, steps_ = 0;
  double first_s_ = 0, sum_s_ = 0;
};

}  // namespace lockstep
