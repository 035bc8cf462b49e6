// Peak arithmetic of GPUs, which the utilisation of a run (MFU) is measured against.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "devices/device.h"

namespace lockstep {

enum class ComputeType { fp32, tf32, bf16, fp16 };

// Of one GPU: dense matrix products at the boost clock of its datasheet, added up in fp32.
struct GpuPeak {
  std::string_view name;  // as the driver prints it
  double fp32_tflops;     // without TF32; 0 = unknown
  double half_tflops;     // fp16 and bf16 on tensor cores; of TF32 half of that
  bool has_bf16 = true;   // and TF32; false: bf16 is emulated, at a speed that no datasheet states
  double memory_gib = 0;  // tells GPUs of one name apart; 0 = the name is enough
};

std::span<const GpuPeak> gpu_peaks();

// FLOP/s of the device. Nothing for CPUs, MIG instances, types that the GPU has no units for, and
// every name that is not in the table letter by letter (but for a missing "NVIDIA " in front, as
// older drivers print it). A power limit changes nothing: the peak is the datasheet's.
std::optional<double> peak_flops(const Device& device, ComputeType type);

}  // namespace lockstep
