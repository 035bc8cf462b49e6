// How long a step takes over a whole start of a run.
#pragma once

#include <cstdint>
#include <optional>

namespace lockstep {

// The mean over all steps but those of the first logged window, which hold what happens once:
// kernels are loaded, a graph is recorded. Where there is no other window, that one counts.
class MeanStep {
 public:
  void add(std::int64_t steps, double seconds);  // a logged window; evaluations taken out
  std::optional<double> seconds() const;         // nothing before the first window

 private:
  std::int64_t first_steps_ = 0, steps_ = 0;
  double first_s_ = 0, sum_s_ = 0;
};

}  // namespace lockstep
