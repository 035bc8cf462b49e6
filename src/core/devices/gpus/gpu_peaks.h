// Peak FLOP/s of GPUs, the reference for model FLOP utilisation (MFU).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/devices/device.h"

namespace lockstep {

enum class ComputeType { fp32, tf32, bf16, fp16 };

// One GPU's dense matrix products at the boost clock of its datasheet, accumulated in fp32.
struct GpuPeak {
  std::string_view name;  // as the driver prints it
  double fp32_tflops;     // without TF32; 0 = unknown
  double half_tflops;     // fp16 and bf16 on tensor cores; TF32 has half of that
  // It has bf16 and TF32; false: bf16 is emulated, at a speed that no datasheet states.
  bool has_bf16 = true;
  double memory_gib = 0;  // tells GPUs of the same name apart; 0 = the name is enough
};

std::span<const GpuPeak> gpu_peaks();

// Peak FLOP/s of the device. Nothing for CPUs, MIG instances, and types that the GPU has no units
// for. Nothing either for names that are not in the table in exactly this form; only a missing
// "NVIDIA " in front is accepted, as older drivers print it. The peak is the datasheet's, whatever
// the power limit.
std::optional<double> peak_flops(const Device& device, ComputeType type);

}  // namespace lockstep
