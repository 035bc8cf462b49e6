#include "training/evaluation/window_grid.h"

#include "core/base/check.h"

#include <algorithm>
#include <cmath>

namespace lockstep {
namespace {

constexpr double sigma = 0.125, least = 0.001;

double weight_of(std::int64_t i, std::int64_t window, std::int64_t step, WindowWeights weights) {
  const auto place = static_cast<double>(i), size = static_cast<double>(window);
  switch (weights) {
    case WindowWeights::uniform:
      return 1;
    case WindowWeights::linear: {
      const auto slope = static_cast<double>(window - step + 1);
      return std::min({1.0, (place + 1) / slope, (size - place) / slope});
    }
    case WindowWeights::gaussian: {
      const double x = (place - (size - 1) / 2) / (sigma * size);
      return std::max(least, std::exp(-x * x / 2));
    }
  }
  LOCKSTEP_CHECK(false);
}

std::vector<std::int64_t> starts_of(std::int64_t input, std::int64_t window, std::int64_t step) {
  if (input <= window) return {(input - window) / 2};
  std::vector<std::int64_t> starts;
  for (std::int64_t at = 0; at + window < input; at += step) starts.push_back(at);
  starts.push_back(input - window);
  return starts;
}

}  // namespace

WindowLine lay_windows(std::int64_t input, std::int64_t window, std::int64_t step,
                       WindowWeights weights) {
  LOCKSTEP_CHECK(input > 0 && step > 0 && step <= window);
  WindowLine line{.input = input,
                  .window = window,
                  .step = step,
                  .starts = starts_of(input, window, step),
                  .weights = {},
                  .totals = std::vector<double>(static_cast<std::size_t>(input))};
  for (std::int64_t i = 0; i < window; ++i)
    line.weights.push_back(weight_of(i, window, step, weights));
  const double most = *std::max_element(line.weights.begin(), line.weights.end());
  for (double& weight : line.weights) weight /= most;
  for (const std::int64_t start : line.starts)
    for (std::int64_t i = std::max<std::int64_t>(0, -start); i < window; ++i)
      if (start + i < input)
        line.totals[static_cast<std::size_t>(start + i)] +=
            line.weights[static_cast<std::size_t>(i)];
  return line;
}

}  // namespace lockstep
