// Detects a loss that is far above the preceding losses.
#pragma once

#include <deque>
#include <optional>

namespace lockstep {

// Keeps the losses of the last 50 steps. A spike is a loss that exceeds the largest of them by more
// than twice the width of their range. After a spike, no other spike is reported until a loss is no
// spike by this rule, or until 50 steps have passed.
class LossRange {
 public:
  struct Range {
    double low = 0, high = 0;
  };
  // Adds the loss of the next step. If it is a spike, returns the range of the losses before it.
  std::optional<Range> add(double loss);

 private:
  static constexpr std::size_t window_ = 50;  // number of steps
  std::deque<double> losses_;                 // finite losses, oldest first
  std::size_t spike_ = 0;                     // steps since the current spike began; 0 = none
};

}  // namespace lockstep
