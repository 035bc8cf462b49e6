// Loads NVIDIA's management library (NVML) at run time, so that Lockstep also runs without a
// driver.
#pragma once

#include <string>

#include "core/devices/nvml/nvml_api.h"

namespace lockstep {

// Loads the library file that LOCKSTEP_NVML names. If that variable is not set, loads
// libnvidia-ml.so.1, which may also be in the folder that Windows Subsystem for Linux uses. The
// library stays loaded during the lifetime of this object. No function throws.
class NvmlLibrary {
 public:
  NvmlLibrary();
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  bool started() const { return started_; }  // whether the library is loaded and its driver answers
  // why started() is false; "" if it is true
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
