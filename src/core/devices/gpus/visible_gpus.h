// Finds the GPUs that CUDA_VISIBLE_DEVICES leaves visible, and GPUs by UUID.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/devices/gpus/gpu_probe.h"

namespace lockstep {

bool is_uuid(std::string_view word);  // starts with "GPU-" or "MIG-"

// Returns the indexes in `gpus` of the GPUs whose UUID starts with `prefix`. Case is ignored, as in
// CUDA. If a UUID equals `prefix`, returns only the index of that GPU.
std::vector<int> find_by_uuid(const std::vector<GpuInfo>& gpus, std::string_view prefix);

// Whether this value of CUDA_VISIBLE_DEVICES hides all GPUs on purpose: its first word is "", "-1",
// "none", "void" or "NoDevFiles". False for null.
bool hides_all(const char* visible);

// Returns the visible GPUs. visible: the value of CUDA_VISIBLE_DEVICES; if it is null, all GPUs are
// visible. The result is in the order of `visible`, in which indexes are in PCI bus order. The list
// ends at "-1" or an empty word, as in CUDA. A MIG UUID that is not in `gpus` is kept, because NVML
// may not list it. Throws Error if a GPU does not exist or is named twice, or if a word is neither
// an index nor a UUID.
std::vector<GpuInfo> visible_gpus(const std::vector<GpuInfo>& gpus, const char* visible);

// Returns a list for messages: "0 (Tesla T4), 1 (Tesla T4)".
std::string list_gpus(const std::vector<GpuInfo>& gpus);

}  // namespace lockstep
