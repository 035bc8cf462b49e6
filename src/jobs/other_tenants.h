// Programs of others on the GPUs of a batch.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "devices/device.h"
#include "monitor/gpu_reader.h"

namespace lockstep {

class OtherTenants {
 public:
  explicit OtherTenants(std::vector<Device> devices);
  OtherTenants(std::vector<Device> devices, std::shared_ptr<GpuReader> reader);

  // Who computes on a device, given by its place, that is no job of any batch: "python3 train.py
  // (process 123)"; or memory of one that has ended, if it is more than was used when nobody was
  // there. "": nobody, or that cannot be known. What draws pictures does not count.
  std::string on(int device);
  std::function<std::string(int)> asker() {
    return [this](int device) { return on(device); };
  }

 private:
  std::vector<Device> devices_;
  std::shared_ptr<GpuReader> reader_;
  std::map<int, double> unused_bytes_;  // of memory, by device: used when nobody was there
};

}  // namespace lockstep
