// Arguments of the kernels of ops/muon/muon.h. This header does not include torch, so CUDA sources
// can include it.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

// A dense matrix with its learning rate. All pointers are to device memory, aligned to four
// elements.
struct MuonMatrix {
  float *weights = nullptr, *momentum = nullptr;
  const float* gradient = nullptr;
  void* working = nullptr;  // low-precision copy of the weights; may be null
  const float* lr = nullptr;
  double decay = 0;
  double factor = 1;  // factor of the learning rate; depends on the shape
};

constexpr std::int64_t muon_chunk = 8192;  // elements for each thread block

// Matrices of the same shape. All pointers are to device memory. divisor and skip are as in
// AdamArguments.
struct MuonArguments {
  const MuonMatrix* matrices = nullptr;
  std::int64_t count = 0, elements = 0;  // number of matrices, and elements of each
  void* update = nullptr;                // bf16 [count, stride]
  std::int64_t stride = 0;               // a multiple of four, at least `elements`
  float* squares = nullptr;  // [count, chunks]: sum of squares of each chunk of muon_chunk elements
  const float *divisor = nullptr, *skip = nullptr;
  double momentum = 0;
  bool nesterov = true;
  KernelDtype working_dtype = KernelDtype::bf16;
};

}  // namespace lockstep
