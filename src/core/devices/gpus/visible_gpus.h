// The GPUs that CUDA_VISIBLE_DEVICES leaves visible, and how a UUID names a GPU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/devices/gpus/gpu_probe.h"

namespace lockstep {

bool is_uuid(std::string_view word);  // starts with "GPU-" or "MIG-"

// Positions in `gpus` whose UUID starts with `prefix` (ignoring case, as CUDA does).
std::vector<int> find_by_uuid(const std::vector<GpuInfo>& gpus, std::string_view prefix);

// Whether the value hides every GPU on purpose: "", "-1", "none", "void", "NoDevFiles".
bool hides_all(const char* visible);

// The visible GPUs in the order in which the value names them; all if it is null. Indexes count in
// PCI bus order. A MIG UUID that `gpus` lacks is kept, since NVML may not list it. Throws Error for
// an absent GPU, a duplicate, and a word that is neither index nor UUID.
std::vector<GpuInfo> visible_gpus(const std::vector<GpuInfo>& gpus, const char* visible);

// "0 (Tesla T4), 1 (Tesla T4)"
std::string list_gpus(const std::vector<GpuInfo>& gpus);

}  // namespace lockstep
