// Checks whether Lockstep supports a GPU and its driver.
#pragma once

#include <string>
#include <vector>

#include "core/devices/gpus/gpu_probe.h"

namespace lockstep {

constexpr int oldest_compute_major = 7, oldest_compute_minor = 5;  // sm_75: T4, RTX 20

std::string cuda_text(int version);  // "13.0" for 13000

bool too_old(int compute_major, int compute_minor);

// Throws Error if a GPU in `chosen` has a fault or is too old. The error names the first such GPU,
// and lists the GPUs in `present` that can be chosen instead.
void check_gpus(const std::vector<GpuInfo>& chosen, const std::vector<GpuInfo>& present);

// Throws Error if the major version of CUDA that the driver supports is lower than that of
// `cuda_needed`. cuda_needed: 13000 for 13.0; 0 = no check.
void check_driver(GpuProbe& probe, int cuda_needed);

}  // namespace lockstep
