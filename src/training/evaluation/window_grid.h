// Where the windows lie along one dimension of an input, and how much each of their elements
// counts.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

// How a window's elements count where windows overlap, from the middle to the edge.
//   uniform: all the same
//   linear: falls to the edge over the elements that neighbours share
//   gaussian: exp(-x^2 / 2 s^2) of the distance x from the middle, s an eighth of the window, at
//             least 0.001
enum class WindowWeights { uniform, linear, gaussian };

// Windows of `window` elements over `input` ones, `step` apart. The last is moved back to end where
// the input ends; an input that is smaller than a window has one, which stands out on both sides.
struct WindowLine {
  std::int64_t input = 0, window = 0, step = 0;
  std::vector<std::int64_t> starts;  // ascending; below 0 where the window stands out
  std::vector<double> weights;       // [window], the largest 1
  std::vector<double> totals;        // [input]: the weights of all windows added up

  std::int64_t count() const { return static_cast<std::int64_t>(starts.size()); }
  std::int64_t start(std::int64_t i) const { return starts[static_cast<std::size_t>(i)]; }
  std::int64_t end(std::int64_t i) const { return start(i) + window; }
};

// All positive, step <= window.
WindowLine lay_windows(std::int64_t input, std::int64_t window, std::int64_t step,
                       WindowWeights weights);

}  // namespace lockstep
