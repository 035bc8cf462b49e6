// Loads NVIDIA's management library (NVML) at run time, so that Lockstep also runs without a
// driver.
#pragma once

#include <string>

#include "core/devices/nvml/nvml_api.h"

namespace lockstep {

// Loads the file that LOCKSTEP_NVML names. Without it, loads libnvidia-ml.so.1, also from its place
// in Windows Subsystem for Linux. The library stays loaded from construction to destruction. Never
// throws.
class NvmlLibrary {
 public:
  NvmlLibrary();
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  bool started() const { return started_; }  // whether the library is loaded and its driver answers
  // reason if it is not started; else ""
  const std::string& why_absent() const { return why_absent_; }
  const nvml::Api& api() const { return api_; }
  std::string error_text(nvml::Return result) const;  // "GPU is lost"

 private:
  void* library_ = nullptr;
  nvml::Api api_;
  bool started_ = false;
  std::string why_absent_;
};

}  // namespace lockstep
