#include "tools/monitor/live/history.h"

#include <algorithm>
#include <limits>

#include "core/base/check.h"

namespace lockstep {

History::History(std::size_t gpus, std::size_t capacity)
    : gpus_(gpus), capacity_(std::max<std::size_t>(capacity, 1)) {
  moments_.resize(capacity_);
  values_.resize(capacity_ * gpus_ * metric_count);
}

void History::add(const MonitorSample& sample) {
  LOCKSTEP_CHECK(sample.gpus.size() == gpus_);
  moments_[next_] = {sample.wall_s, sample.number};
  float* out = values_.data() + next_ * gpus_ * metric_count;
  for (const GpuSample& gpu : sample.gpus)
    for (const Reading& reading : gpu.readings)
      *out++ = reading.state == ReadingState::measured ? static_cast<float>(reading.value)
                                                       : std::numeric_limits<float>::quiet_NaN();
  next_ = (next_ + 1) % capacity_;
  count_ = std::min(count_ + 1, capacity_);
}

std::size_t History::slot(std::size_t age) const {
  LOCKSTEP_CHECK(age < count_);
  return (next_ + capacity_ - 1 - age) % capacity_;
}

double History::wall_s(std::size_t age) const { return moments_[slot(age)].wall_s; }

long long History::number(std::size_t age) const { return moments_[slot(age)].number; }

float History::value(std::size_t gpu, GpuMetric metric, std::size_t age) const {
  LOCKSTEP_CHECK(gpu < gpus_);
  return values_[(slot(age) * gpus_ + gpu) * metric_count + static_cast<std::size_t>(metric)];
}

}  // namespace lockstep
