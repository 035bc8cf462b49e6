// Foreign programs on the GPUs of a batch.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/devices/device.h"
#include "tools/monitor/gpu/gpu_reader.h"

namespace lockstep {

class OtherTenants {
 public:
  explicit OtherTenants(std::vector<Device> devices);
  OtherTenants(std::vector<Device> devices, std::shared_ptr<GpuReader> reader);

  // Describes a program on a device (given by its index) that is no job of any batch: "python3
  // train.py (process 123)". Also describes memory of an ended process, if no process is on the
  // device but more memory is used than when it was unused. "" if there is neither, or if that is
  // unknown. Processes that only draw do not count.
  std::string on(int device);
  std::function<std::string(int)> asker() {
    return [this](int device) { return on(device); };
  }

 private:
  std::vector<Device> devices_;
  std::shared_ptr<GpuReader> reader_;
  std::map<int, double> unused_bytes_;  // memory by device, while it was unused
};

}  // namespace lockstep
