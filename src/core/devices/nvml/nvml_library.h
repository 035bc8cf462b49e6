// NVIDIA's management library, loaded at run time so that no driver is needed.
#pragma once

#include <string>

#include "core/devices/nvml/nvml_api.h"

namespace lockstep {

// Loads "libnvidia-ml.so.1", or the file that LOCKSTEP_NVML names. It stays loaded from
// construction to destruction. Never throws.
class NvmlLibrary {
 public:
  NvmlLibrary();
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  bool started() const { return started_; }  // it is there and its driver answers
  const std::string& why_absent() const { return why_absent_; }  // "" if started
  const nvml::Api& api() const { return api_; }
  std::string error_text(nvml::Return result) const;  // "GPU is lost"

 private:
  void* library_ = nullptr;
  nvml::Api api_;
  bool started_ = false;
  std::string why_absent_;
};

}  // namespace lockstep
