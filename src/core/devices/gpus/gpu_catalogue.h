// A list of common NVIDIA GPUs, so that a user can plan runs for GPUs that this machine does not
// have.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep {

struct GpuModel {
  std::string_view key;   // "H100", upper case without spaces and dashes
  std::string_view name;  // the name that the driver reports
  int memory_mib;         // total memory that the driver reports, in MiB
  int compute_major, compute_minor;
};

std::span<const GpuModel> gpu_catalogue();
// Finds a GPU by a name such as "h100", "RTX 4090", "A100-80GB" or "Tesla T4", or by
// GpuModel::name. Returns null if the list has no such GPU.
const GpuModel* find_gpu_model(std::string_view name);

}  // namespace lockstep
