// Peak FLOP/s of GPUs, the reference for model FLOP utilisation (MFU).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/devices/device.h"

namespace lockstep {

enum class ComputeType { fp32, tf32, bf16, fp16 };

// Peaks of one GPU for dense matrix products that accumulate in fp32, at the boost clock of its
// datasheet.
struct GpuPeak {
  std::string_view name;  // as the driver prints it
  double fp32_tflops;     // without TF32; 0 if unknown
  double half_tflops;     // fp16 and bf16 on tensor cores; the peak of TF32 is half of it
  // Whether the GPU has bf16 and TF32. If false, bf16 is emulated, at a speed that no datasheet
  // states.
  bool has_bf16 = true;
  double memory_gib = 0;  // distinguishes GPUs of the same name; 0 if the name is enough
};

std::span<const GpuPeak> gpu_peaks();

// Returns the peak FLOP/s of the device, as in its datasheet; a lower power limit is not
// considered. Returns nothing for CPUs, MIG instances, and types for which the GPU has no units.
// Also returns nothing if the table does not have the exact name. "NVIDIA " at the beginning may be
// missing, because older drivers leave it out.
std::optional<double> peak_flops(const Device& device, ComputeType type);

}  // namespace lockstep
