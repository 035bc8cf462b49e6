// Summarises the GPUs over the time of all samples: means, peaks, idle share and energy.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/devices/gpus/gpu_probe.h"
#include "tools/monitor/sampler.h"

namespace lockstep {

class MonitorSummary {
 public:
  explicit MonitorSummary(std::vector<GpuInfo> gpus);
  void add(const MonitorSample& sample);  // call it in chronological order
  // Returns a table with a row per GPU, and a line about the time. A value that was never measured
  // is "n/a" if the metric is unsupported, else "-".
  std::string text() const;
  bool empty() const { return samples_ == 0; }

 private:
  struct Series {
    long long count = 0;
    double sum = 0, most = 0;
    double first = 0, last = 0, first_s = 0, last_s = 0;
    bool unsupported = false;
    void add(const Reading& reading);
  };
  struct OfGpu {
    std::array<Series, metric_count> series;
    // idle: samples in which the GPU was idle. judged: samples in which that is known.
    long long idle = 0, judged = 0;
  };
  std::string mean(const OfGpu& gpu, GpuMetric metric, double scale, int digits) const;
  std::string most(const OfGpu& gpu, GpuMetric metric, double scale, int digits) const;
  static std::string energy(const OfGpu& gpu);

  std::vector<GpuInfo> gpus_;
  std::vector<OfGpu> of_;
  double begin_s_ = 0, end_s_ = 0;
  long long samples_ = 0;
};

}  // namespace lockstep
