#include "planning/order/length_groups.h"

#include "core/base/check.h"
#include "core/base/philox.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

using Samples = std::vector<std::int64_t>;

class LengthGroups {
 public:
  LengthGroups(SampleAt order, const EpochSteps& steps, std::uint64_t seed, bool shuffle,
               std::function<std::int64_t(std::int64_t)> length)
      : order_(std::move(order)),
        steps_(steps),
        seed_(seed),
        shuffle_(shuffle),
        length_(std::move(length)),
        window_(steps.global * steps_sorted_together) {
    LOCKSTEP_CHECK(steps.size > 0 && steps.global > 0);
  }

  std::int64_t at(std::int64_t epoch, std::int64_t place) {
    LOCKSTEP_CHECK(place >= 0 && place < steps_.size);
    return (*window(epoch, place / window_))[static_cast<std::size_t>(place % window_)];
  }

 private:
  struct Window {
    std::int64_t epoch = 0, number = 0;
    std::shared_ptr<const Samples> samples;
  };

  // Several windows are kept, because loaders read ahead into the next one while some threads lag.
  static constexpr std::size_t kept_windows = 4;

  std::shared_ptr<const Samples> window(std::int64_t epoch, std::int64_t number) {
    const std::lock_guard lock(mutex_);
    for (const Window& known : windows_)
      if (known.epoch == epoch && known.number == number) return known.samples;
    windows_.push_back({epoch, number, std::make_shared<const Samples>(sorted(epoch, number))});
    if (windows_.size() > kept_windows) windows_.pop_front();
    return windows_.back().samples;
  }

  Samples sorted(std::int64_t epoch, std::int64_t number) const {
    const std::int64_t first = number * window_;
    const std::int64_t count = std::min(window_, steps_.size - first);
    // Lengths, and positions before sorting.
    std::vector<std::pair<std::int64_t, std::int64_t>> by_length;
    Samples before;
    for (std::int64_t i = 0; i < count; ++i) {
      before.push_back(order_(epoch, first + i));
      by_length.emplace_back(length_(before.back()), i);
    }
    std::sort(by_length.begin(), by_length.end());
    Samples samples;
    for (const auto& [length, i] : by_length)
      samples.push_back(before[static_cast<std::size_t>(i)]);
    return shuffle_ ? steps_of(samples, epoch, number) : samples;
  }

  // Cuts the sorted samples into steps and shuffles the full ones. The partial step comes last.
  Samples steps_of(const Samples& sorted, std::int64_t epoch, std::int64_t number) const {
    const auto global = static_cast<std::size_t>(steps_.global);
    const std::size_t full = sorted.size() / global, rest = sorted.size() % global;
    Random random(seed_, RandomStream::groups, static_cast<std::uint64_t>(epoch),
                  static_cast<std::uint64_t>(number));
    // The number of full steps with shorter samples than the partial step has.
    const std::size_t cut = rest > 0 ? random.below(full + 1) : full;
    std::vector<std::size_t> begins;
    for (std::size_t step = 0; step < full; ++step)
      begins.push_back(step * global + (step < cut ? 0 : rest));
    for (std::size_t left = begins.size(); left > 1; --left)
      std::swap(begins[left - 1], begins[random.below(left)]);
    Samples samples;
    const auto take = [&](std::size_t begin, std::size_t count) {
      const auto from = sorted.begin() + static_cast<std::ptrdiff_t>(begin);
      samples.insert(samples.end(), from, from + static_cast<std::ptrdiff_t>(count));
    };
    for (const std::size_t begin : begins) take(begin, global);
    take(cut * global, rest);
    return samples;
  }

  const SampleAt order_;
  const EpochSteps steps_;
  const std::uint64_t seed_;
  const bool shuffle_;
  const std::function<std::int64_t(std::int64_t)> length_;
  // The number of samples in a window.
  const std::int64_t window_;
  std::mutex mutex_;
  std::deque<Window> windows_;
};

}  // namespace

SampleAt group_by_length(SampleAt order, const EpochSteps& steps, std::uint64_t seed, bool shuffle,
                         std::function<std::int64_t(std::int64_t sample)> length) {
  const auto groups =
      std::make_shared<LengthGroups>(std::move(order), steps, seed, shuffle, std::move(length));
  return [groups](std::int64_t epoch, std::int64_t place) { return groups->at(epoch, place); };
}

}  // namespace lockstep
