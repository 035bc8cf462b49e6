// NVML's GPU performance monitoring: how busy the parts of a GPU were between two samples. For
// Hopper and later.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/devices/nvml/nvml_api.h"
#include "tools/monitor/gpu/metrics.h"

namespace lockstep {

class Gpm {
 public:
  // The library behind `api` must outlive it.
  Gpm(const nvml::Api& api, nvml::Device device);

  bool supported() const { return supported_; }
  // Readings from the newest pair of samples. Samples are at least 100 ms apart; more frequent
  // calls return the same readings. The first sample has no predecessor. If this is not supported,
  // the readings of SM, tensor and memory activity say so. There are none for traffic, which NVML
  // also offers elsewhere.
  std::vector<std::pair<GpuMetric, Reading>> read(double now_s);

 private:
  struct Free {
    const nvml::Api* api;
    void operator()(nvml::GpmSample sample) const { nvml::ask(api->nvmlGpmSampleFree, sample); }
  };
  using Sample = std::unique_ptr<std::remove_pointer_t<nvml::GpmSample>, Free>;
  Sample new_sample() const;
  void take(double now_s);

  const nvml::Api* api_;
  nvml::Device device_;
  bool supported_ = false;
  Sample before_, after_;
  double taken_s_ = 0;
  bool has_one_ = false;
  std::vector<std::pair<GpuMetric, Reading>> last_;
};

}  // namespace lockstep
