// Finds programs on the GPUs of a batch that do not belong to any batch.
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

  // Describes a program on a device that does not belong to any batch, such as "python3 train.py
  // (process 123)". Programs that only draw do not count. If the device has no process, but 512 MiB
  // more than before is in use, this memory is described. Returns "" if there is neither, or if it
  // is unknown. device: its index.
  std::string on(int device);
  std::function<std::string(int)> asker() {
    return [this](int device) { return on(device); };
  }

 private:
  std::vector<Device> devices_;
  std::shared_ptr<GpuReader> reader_;
  // by device: the least memory in use while it had no process
  std::map<int, double> unused_bytes_;
};

}  // namespace lockstep
