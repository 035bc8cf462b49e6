// Finds out whether an error reports lack of memory.
#pragma once

#include <exception>

namespace lockstep {

// Whether the error reports that an allocation failed, on the device or on the host. ATen's
// allocators and the libraries that ATen calls report such a failure in different ways. Some
// libraries report only a general failure. For example, cuDNN reports that it found no engine if
// all its engines need more memory. A general failure counts as lack of memory only if the device
// is short of memory when this function is called.
bool is_out_of_memory(const std::exception& error);

// Registers the function that says whether the device is short of memory. The CUDA backend calls
// this. The function `is_short` returns true in two cases: an allocation on the device has failed
// since the last call of is_short(), or hardly any device memory is free. If no function is
// registered, the device counts as never short of memory.
void register_memory_shortage(bool (*is_short)());

// Returns function(). If that call runs out of memory, calls free_memory() and then function() once
// more. Use this for work that the other ranks wait for. They would wait for ever if one rank did
// not do that work.
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
