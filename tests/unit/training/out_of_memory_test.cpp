// Which failures are a lack of memory.
#include "backends/out_of_memory.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace lockstep {
namespace {

bool of_torch(const std::string& what) {
  try {
    TORCH_CHECK(false, what);
  } catch (const std::exception& error) {
    return is_out_of_memory(error);
  }
  return false;
}

// While it lives, the device is short of memory, or not.
struct Shortage {
  explicit Shortage(bool is_short) {
    register_memory_shortage(is_short ? [] { return true; } : [] { return false; });
  }
  ~Shortage() { register_memory_shortage(nullptr); }
};

constexpr const char* without_a_word_of_memory[] = {
    "GET was unable to find an engine to execute this computation",
    "FIND was unable to find an engine to execute this computation",
    "cuDNN's attention failed: [cudnn_frontend] Error: No execution plans support the graph.",
    "cuDNN error: CUDNN_STATUS_NOT_INITIALIZED",
    "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
    "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR"};

TEST(IsOutOfMemory, KnowsWhatSaysSo) {
  EXPECT_TRUE(is_out_of_memory(std::bad_alloc()));
  EXPECT_TRUE(of_torch("CUDA error: out of memory"));
  EXPECT_TRUE(of_torch("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate`"));
  EXPECT_TRUE(of_torch("cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"));
  EXPECT_FALSE(of_torch("mat1 and mat2 shapes cannot be multiplied"));
  EXPECT_FALSE(is_out_of_memory(std::runtime_error("CUDA error: out of memory")));
}

TEST(IsOutOfMemory, IsWhatALibraryCouldNotDoWhileTheDeviceIsShortOfMemory) {
  const Shortage shortage(true);
  for (const char* const what : without_a_word_of_memory) EXPECT_TRUE(of_torch(what)) << what;
  EXPECT_FALSE(of_torch("mat1 and mat2 shapes cannot be multiplied"));
}

// As the CUDA library asks the allocator, which counts failures.
TEST(IsOutOfMemory, AFailureThatWasSeenDoesNotStandForTheNextOne) {
  static int failures = 0, known = 0;
  register_memory_shortage([] { return std::exchange(known, failures) < failures; });
  ++failures;
  EXPECT_TRUE(of_torch("CUDA error: out of memory"));
  EXPECT_FALSE(of_torch("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"));
  ++failures;
  EXPECT_TRUE(of_torch("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"));
  register_memory_shortage(nullptr);
}

TEST(IsOutOfMemory, IsNotWhatALibraryCannotDoAtAll) {
  for (const char* const what : without_a_word_of_memory) EXPECT_FALSE(of_torch(what)) << what;
  const Shortage plenty(false);
  for (const char* const what : without_a_word_of_memory) EXPECT_FALSE(of_torch(what)) << what;
}

}  // namespace
}  // namespace lockstep
