// Stores the values of the newest samples compactly. Charts are drawn from them.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/monitor/sampler.h"

namespace lockstep {

class History {
 public:
  // capacity: the number of samples that are kept; the oldest are removed first. Each value takes 4
  // bytes.
  History(std::size_t gpus, std::size_t capacity);
  void add(const MonitorSample& sample);  // call it in chronological order

  std::size_t size() const { return count_; }
  // age: index of the sample, with 0 for the newest; it must be below size().
  double wall_s(std::size_t age) const;
  long long number(std::size_t age) const;  // MonitorSample::number
  // The value in the metric's unit; NaN if it was not measured.
  float value(std::size_t gpu, GpuMetric metric, std::size_t age) const;

 private:
  std::size_t slot(std::size_t age) const;

  struct Moment {
    double wall_s = 0;
    long long number = 0;
  };
  std::size_t gpus_, capacity_, count_ = 0, next_ = 0;
  std::vector<Moment> moments_;
  std::vector<float> values_;  // [slot][gpu][metric]
};

}  // namespace lockstep
