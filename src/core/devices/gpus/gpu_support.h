// Requirements on a GPU and its driver.
#pragma once

#include <string>
#include <vector>

#include "core/devices/gpus/gpu_probe.h"

namespace lockstep {

constexpr int oldest_compute_major = 7, oldest_compute_minor = 5;  // sm_75: T4, RTX 20

std::string cuda_text(int version);  // "13.0" for 13000

bool too_old(int compute_major, int compute_minor);

// Throws Error, which names the first GPU of `chosen` that is broken or too old, and lists the GPUs
// of `present` that can be chosen instead.
void check_gpus(const std::vector<GpuInfo>& chosen, const std::vector<GpuInfo>& present);

// Throws Error if the driver is too old for CUDA `cuda_needed` (13000 for 13.0; 0 = no check).
void check_driver(GpuProbe& probe, int cuda_needed);

}  // namespace lockstep
