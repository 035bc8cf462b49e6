// Common NVIDIA GPUs, for plans on machines that the user does not have.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep {

struct GpuModel {
  std::string_view key;   // "H100", upper case without spaces and dashes
  std::string_view name;  // as the driver prints it
  int memory_mib;         // total that the driver reports, in MiB
  int compute_major, compute_minor;
};

std::span<const GpuModel> gpu_catalogue();
// Accepts "h100", "RTX 4090", "A100-80GB", "Tesla T4" and every name that the driver prints;
// otherwise null.
const GpuModel* find_gpu_model(std::string_view name);

}  // namespace lockstep
