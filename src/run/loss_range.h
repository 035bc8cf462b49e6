// Whether a loss is far above those before it.
#pragma once

#include <deque>
#include <optional>

namespace lockstep {

// The losses of the last steps. A spike lies above the largest of them by more than twice the width
// of their range; after one, none is reported until a loss lies within the range again or the spike
// has lasted so long that it is the range.
class LossRange {
 public:
  struct Range {
    double low = 0, high = 0;
  };
  // The loss of one more step; the range before it if this is a spike.
  std::optional<Range> add(double loss);

 private:
  static constexpr std::size_t window_ = 50;  // steps
  std::deque<double> losses_;                 // finite ones, the newest last
  std::size_t spike_ = 0;                     // steps since one began, 0: none is on
};

}  // namespace lockstep
