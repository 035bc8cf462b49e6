// Loads liblockstep-cuda.so once for all tests.
#include "gpu/gpu_fixture.h"

#include "checkout_paths.h"
#include "core/base/error.h"
#include "core/devices/gpus/gpu_probe.h"

#include <filesystem>

namespace lockstep {

const GpuOrReason& gpu_or_reason() {
  static const GpuOrReason loaded = [] {
    GpuOrReason result;
    try {
      result.backend = &cuda_backend();
    } catch (const Error& error) {
      result.reason = error.what();
      result.fault = std::filesystem::exists(LOCKSTEP_BUILD_DIR "/liblockstep-cuda.so") &&
                     !make_nvml_probe()->gpus().empty();
    }
    return result;
  }();
  return loaded;
}

void GpuTest::SetUp() {
  const GpuOrReason& loaded = gpu_or_reason();
  ASSERT_FALSE(loaded.fault) << loaded.reason;
  if (loaded.backend == nullptr) GTEST_SKIP() << loaded.reason;
  gpu().use_training_stream();
}

}  // namespace lockstep
