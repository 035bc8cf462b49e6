// Finds programs that use the GPUs of a batch, but do not belong to any batch.
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

  // Describes a program that uses the device but does not belong to any batch, such as "python3
  // train.py (process 123)". Programs that use the device only for graphics do not count. If the
  // device has no process, but 512 MiB more than before is in use, this memory is described.
  // Returns "" if it finds no program and no such memory, or if the device cannot be read. device:
  // the index of the device.
  std::string on(int device);
  std::function<std::string(int)> asker() {
    return [this](int device) { return on(device); };
  }

 private:
  std::vector<Device> devices_;
  std::shared_ptr<GpuReader> reader_;
  // by device: the least memory in use while the device had no process
  std::map<int, double> unused_bytes_;
};

}  // namespace lockstep
