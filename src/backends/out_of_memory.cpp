#include "backends/out_of_memory.h"

#include <c10/util/Exception.h>

#include <atomic>
#include <initializer_list>
#include <new>
#include <string_view>

namespace lockstep {
namespace {

std::atomic<bool (*)()> memory_is_short = nullptr;

bool says_any(std::string_view what, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (what.find(word) != what.npos) return true;
  return false;
}

}  // namespace

void register_memory_shortage(bool (*is_short)()) { memory_is_short = is_short; }

bool is_out_of_memory(const std::exception& error) {
  bool (*const is_short)() = memory_is_short;
  const std::string_view what = error.what();
  const bool is_of_torch = dynamic_cast<const c10::Error*>(&error) != nullptr;
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
      dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      (is_of_torch && says_any(what, {"DefaultCPUAllocator: can't allocate memory",
                                      "CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED",
                                      "CUDNN_STATUS_ALLOC_FAILED", "ALLOCATION_FAILED"}))) {
    // Resets the device's count of failures, so that earlier failures are not attributed to the
    // next error.
    if (is_short != nullptr) is_short();
    return true;
  }
  return is_of_torch && is_short != nullptr &&
         says_any(what, {"unable to find an engine to execute this computation",
                         "No execution plans support the graph", "No valid engine configs",
                         "CUDNN_STATUS_NOT_INITIALIZED", "CUBLAS_STATUS_NOT_INITIALIZED",
                         "CUDNN_STATUS_INTERNAL_ERROR", "CUDNN_STATUS_EXECUTION_FAILED"}) &&
         is_short();
}

}  // namespace lockstep
