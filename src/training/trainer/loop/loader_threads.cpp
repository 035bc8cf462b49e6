#include "training/trainer/loop/loader_threads.h"

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

constexpr std::int64_t window_steps = 20;
constexpr double most_waiting = 0.02;

}  // namespace

LoaderThreads::LoaderThreads(std::int64_t asked, std::int64_t most)
    : fixed_(asked >= 0), most_(most), count_(fixed_ ? asked : 1) {}

std::optional<double> LoaderThreads::step_done(double now_s) {
  if (++steps_ < window_steps) return std::nullopt;
  steps_ = 0;
  const double waited_s = std::exchange(waited_s_, 0);
  const std::optional<double> begin_s = std::exchange(begin_s_, now_s);
  if (fixed_ || !begin_s || count_ >= most_) return std::nullopt;
  const double share = waited_s / std::max(now_s - *begin_s, 1e-9);
  if (share <= most_waiting) return std::nullopt;
  const double enough = static_cast<double>(count_) / std::max(1 - share, 0.25);
  count_ = std::clamp(static_cast<std::int64_t>(enough), count_ + 1, most_);
  return share;
}

}  // namespace lockstep
