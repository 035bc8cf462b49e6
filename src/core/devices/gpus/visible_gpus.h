// Finds the GPUs that CUDA_VISIBLE_DEVICES leaves visible, and GPUs by UUID.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/devices/gpus/gpu_probe.h"

namespace lockstep {

bool is_uuid(std::string_view word);  // starts with "GPU-" or "MIG-"

// Returns the indexes in `gpus` of the GPUs whose UUID starts with `prefix`. Case is ignored, as in
// CUDA. If one UUID equals `prefix`, returns only that one.
std::vector<int> find_by_uuid(const std::vector<GpuInfo>& gpus, std::string_view prefix);

// Whether the value hides all GPUs on purpose: its first word is "", "-1", "none", "void" or
// "NoDevFiles".
bool hides_all(const char* visible);

// Returns the visible GPUs in the order of the value; all GPUs if `visible` is null. Indexes are in
// PCI bus order. The list ends at "-1" or an empty word, as in CUDA. A MIG UUID that is not in
// `gpus` is kept, because NVML may not list it. Throws Error for an absent GPU, a duplicate, and a
// word that is neither index nor UUID.
std::vector<GpuInfo> visible_gpus(const std::vector<GpuInfo>& gpus, const char* visible);

// Returns "0 (Tesla T4), 1 (Tesla T4)".
std::string list_gpus(const std::vector<GpuInfo>& gpus);

}  // namespace lockstep
