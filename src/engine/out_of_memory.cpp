#include "engine/out_of_memory.h"

#include <c10/util/Exception.h>

#include <new>
#include <string_view>

namespace lockstep {

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  if (dynamic_cast<const c10::Error*>(&error) == nullptr) return false;
  const std::string_view what = error.what();
  for (const char* words :
       {"DefaultCPUAllocator: can't allocate memory", "CUDA error: out of memory",
        "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED"})
    if (what.find(words) != std::string_view::npos) return true;
  return false;
}

}  // namespace lockstep
