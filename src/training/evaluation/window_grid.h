// Computes the positions of windows along one dimension of an input, and the weights of their
// elements.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

// Says how the weight of a window's elements depends on their distance from the middle. Weights
// matter where windows overlap.
//   uniform: all weights are the same
//   linear: the weight falls towards each edge, over the elements that two neighbouring windows
//     share
//   gaussian: exp(-x^2 / (2 s^2)), but at least 0.001; x is the distance from the middle, and s is
//     an eighth of the window
enum class WindowWeights { uniform, linear, gaussian };

// Windows of `window` elements that cover `input` elements. Each window begins `step` elements
// after the one before it. The last window is moved back so that it ends where the input ends. An
// input that is smaller than a window has one window, which extends beyond the input on both sides.
struct WindowLine {
  std::int64_t input = 0, window = 0, step = 0;
  std::vector<std::int64_t> starts;  // ascending; below 0 if the window begins before the input
  std::vector<double> weights;       // [window]; the largest weight is 1
  std::vector<double> totals;  // [input]: the sum of the weights of all windows at each element

  std::int64_t count() const { return static_cast<std::int64_t>(starts.size()); }
  std::int64_t start(std::int64_t i) const { return starts[static_cast<std::size_t>(i)]; }
  std::int64_t end(std::int64_t i) const { return start(i) + window; }
};

// Places the windows. All arguments must be positive, and step <= window.
WindowLine lay_windows(std::int64_t input, std::int64_t window, std::int64_t step,
                       WindowWeights weights);

}  // namespace lockstep
