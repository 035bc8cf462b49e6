// Distinguishes lack of memory from other failures.
#pragma once

#include <exception>

namespace lockstep {

// Whether an allocation failed: on the device or the host, by ATen's allocators or those of the
// libraries below it. Each library reports this in its own way. Some report lack of memory only as
// a general failure, as cuDNN does if each of its engines needs memory. A general failure counts as
// lack of memory only while the device is short of memory.
bool is_out_of_memory(const std::exception& error);

// is_short: whether an allocation on the device has failed since the last call, even if the
// exception was caught, or whether hardly any memory is free. The CUDA backend registers this
// function. Without it the device is never short.
void register_memory_shortage(bool (*is_short)());

// Returns function(). If it runs out of memory, calls it once more after `free_memory`. It is for
// work that a rank must do, because the other ranks would wait for it for ever.
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
