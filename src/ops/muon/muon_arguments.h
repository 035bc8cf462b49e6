// Arguments of the kernels of ops/muon/muon.h, for sources with and without torch.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

// A dense matrix on the device, with its learning rate. Pointers are aligned to four elements.
struct MuonMatrix {
  float *weights = nullptr, *momentum = nullptr;
  const float* gradient = nullptr;
  void* working = nullptr;  // low-precision copy of the weights, or null
  const float* lr = nullptr;
  double decay = 0;
  double factor = 1;  // factor on the learning rate, which depends on the shape
};

constexpr std::int64_t muon_chunk = 8192;  // elements per block

// Matrices of one shape. Everything is on the device.
struct MuonArguments {
  const MuonMatrix* matrices = nullptr;
  std::int64_t count = 0, elements = 0;  // number of matrices, and elements of each
  void* update = nullptr;                // bf16 [count, stride]
  std::int64_t stride = 0;               // a multiple of four, at least `elements`
  float* squares = nullptr;              // [count, chunks of muon_chunk]: sums of squares of each
                                         // chunk
  const float *divisor = nullptr, *skip = nullptr;
  double momentum = 0;
  bool nesterov = true;
  KernelDtype working_dtype = KernelDtype::bf16;
};

}  // namespace lockstep
