// Detects a loss far above the preceding ones.
#pragma once

#include <deque>
#include <optional>

namespace lockstep {

// The losses of the last steps. A spike lies above their largest by more than twice the width of
// their range. After a spike, none is reported until a loss is back within the range, or the spike
// has lasted so long that it is the new range.
class LossRange {
 public:
  struct Range {
    double low = 0, high = 0;
  };
  // Adds the loss of one more step. Returns the range before it if this is a spike.
  std::optional<Range> add(double loss);

 private:
  static constexpr std::size_t window_ = 50;  // steps
  std::deque<double> losses_;                 // finite ones, the newest last
  std::size_t spike_ = 0;                     // steps since the current spike began; 0: none
};

}  // namespace lockstep
