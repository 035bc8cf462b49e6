// Arguments of the kernels of ops/muon/muon.h, for sources with and without torch.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

// A matrix with its rate, on the device, dense. Pointers are aligned to four elements.
struct MuonMatrix {
  float *weights = nullptr, *momentum = nullptr;
  const float* gradient = nullptr;
  void* working = nullptr;  // low-precision copy of the weights, or null
  const float* lr = nullptr;
  double decay = 0;
  double factor = 1;  // of the rate, by the shape
};

constexpr std::int64_t muon_chunk = 8192;  // elements that a block has

// Matrices of one shape. Everything on the device.
struct MuonArguments {
  const MuonMatrix* matrices = nullptr;
  std::int64_t count = 0, elements = 0;  // matrices, and elements of each
  void* update = nullptr;                // bf16 [count, stride]
  std::int64_t stride = 0;               // a multiple of four, `elements` at least
  float* squares = nullptr;              // [count, chunks of muon_chunk]: their sums
  const float *divisor = nullptr, *skip = nullptr;
  double momentum = 0;
  bool nesterov = true;
  KernelDtype working_dtype = KernelDtype::bf16;
};

}  // namespace lockstep
