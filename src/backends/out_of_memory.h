// Finds out whether an error reports lack of memory.
#pragma once

#include <exception>

namespace lockstep {

// Whether the error reports that an allocation failed, on the device or on the host. ATen's
// allocators and the libraries below it report this in different ways. Some libraries report it
// only as a general failure, for example cuDNN if all its engines need more memory. A general
// failure counts only if the device is short of memory at this time.
bool is_out_of_memory(const std::exception& error);

// Registers the function that says whether the device is short of memory. The CUDA backend calls
// this. The function returns true in two cases: an allocation on the device has failed since its
// last call, or hardly any memory is free. Without a function, the device is never short of memory.
void register_memory_shortage(bool (*is_short)());

// Returns function(). If that runs out of memory, calls free_memory() and then function() once
// more. Use it for work that other ranks wait for: if a rank does not do it, they wait for ever.
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
