// The peak FLOP/s of GPUs. Model FLOPs utilisation (MFU) is relative to it.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/devices/device.h"

namespace lockstep {

enum class ComputeType { fp32, tf32, bf16, fp16 };

// The peaks of one GPU model, for dense matrix products that accumulate in fp32. They apply at the
// boost clock in its datasheet.
struct GpuPeak {
  std::string_view name;  // as the driver prints it
  double fp32_tflops;     // without TF32; 0 if unknown
  double half_tflops;     // fp16 and bf16 on tensor cores; the peak of TF32 is half of this
  // Whether the GPU has units for bf16 and TF32. If false, PyTorch emulates bf16, and the peak is
  // unknown.
  bool has_bf16 = true;
  double memory_gib = 0;  // distinguishes models with the same name; 0 if the name is unique
};

std::span<const GpuPeak> gpu_peaks();

// Returns the peak FLOP/s of the device, as in its datasheet; a lower power limit is not
// considered. Returns nothing for CPUs, for MIG instances, and for types for which the GPU has no
// units. Also returns nothing if gpu_peaks() does not have the exact name of the GPU. Only "NVIDIA
// " at its beginning may be missing, because older drivers leave it out.
std::optional<double> peak_flops(const Device& device, ComputeType type);

}  // namespace lockstep
