// Common NVIDIA GPUs, for plans on machines that one does not have.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep {

struct GpuModel {
  std::string_view key;   // "H100", upper case without spaces and dashes
  std::string_view name;  // as the driver prints it
  int memory_mib;         // total that the driver reports
  int compute_major, compute_minor;
};

std::span<const GpuModel> gpu_catalogue();
// "h100", "RTX 4090", "A100-80GB", "Tesla T4" and all else that the driver prints; or null.
const GpuModel* find_gpu_model(std::string_view name);

}  // namespace lockstep
