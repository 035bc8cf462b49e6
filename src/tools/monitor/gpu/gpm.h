// NVML's GPU performance monitoring (GPM): how busy the parts of a GPU were between two samples. It
// needs a Hopper GPU or a later one.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/devices/nvml/nvml_api.h"
#include "tools/monitor/gpu/metrics.h"

namespace lockstep {

class Gpm {
 public:
  // The library of `api` must outlive this object.
  Gpm(const nvml::Api& api, nvml::Device device);

  bool supported() const { return supported_; }
  // Takes a sample, and returns readings from the newest two samples. Samples are at least 100 ms
  // apart; a call that comes earlier returns the readings of the previous call. After the first
  // sample, the readings have no value. If GPM is not supported, the readings of SM, tensor and
  // memory activity are `unsupported`. Readings of traffic are then left out, because other
  // functions of NVML also report traffic.
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
