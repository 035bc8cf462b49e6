// Telling lack of memory from other failures.
#pragma once

#include <exception>

namespace lockstep {

// Whether an allocation failed: on the device or the host, by ATen's allocators or those of the
// libraries below it. Each reports it in its own way. Some report a lack of memory only as the
// failure of everything, as cuDNN does if each of its engines needs memory. That counts while the
// device is short of memory, and is a failure of another kind otherwise.
bool is_out_of_memory(const std::exception& error);

// is_short: whether an allocation on the device has failed since the last call, though somebody
// caught that, or hardly any memory is free. The CUDA backend registers it; without one the device
// is never short.
void register_memory_shortage(bool (*is_short)());

// Returns function(). If it runs out of memory, calls it once more after `free_memory`. For work
// that a rank cannot leave out without the others waiting for it for ever.
template <class Function, class FreeMemory>
auto retry_after_freeing(const Function& function, const FreeMemory& free_memory) {
  try {
    return function();
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
  }
  free_memory();
  return function();
}

}  // namespace lockstep
