// Loads liblockstep-cuda.so once for all tests.
#include "gpu/gpu_fixture.h"

#include "base/error.h"

namespace lockstep {

const GpuOrReason& gpu_or_reason() {
  static const GpuOrReason loaded = [] {
    GpuOrReason result;
    try {
      result.backend = &cuda_backend();
    } catch (const Error& error) {
      result.reason = error.what();
    }
    return result;
  }();
  return loaded;
}

void GpuTest::SetUp() {
  if (gpu_or_reason().backend == nullptr) GTEST_SKIP() << gpu_or_reason().reason;
  gpu().use_training_stream();
}

}  // namespace lockstep
