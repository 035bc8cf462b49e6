// The CUDA backend for tests, or the reason why there is none.
#pragma once

#include "backends/backend.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <string>

namespace lockstep {

// Loaded at the first call, as a worker does: before anything else asks ATen for a GPU.
struct GpuOrReason {
  Backend* backend = nullptr;
  std::string reason;
  bool fault = false;  // there is a GPU and a library, which must work then
};
const GpuOrReason& gpu_or_reason();

// Each test has the backend as gpu(), on the training stream; or is skipped where there is no GPU
// or no CUDA library; or fails where both are there and do not work.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override;
  Backend& gpu() { return *gpu_or_reason().backend; }
};

// While it lives, operators repeat to the bit.
struct Deterministic {
  Deterministic() { at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false); }
  ~Deterministic() { at::globalContext().setDeterministicAlgorithms(false, /*warn_only=*/false); }
  Deterministic(const Deterministic&) = delete;
  Deterministic& operator=(const Deterministic&) = delete;
};

}  // namespace lockstep
