// Keeps some device memory in reserve. The reserve is freed when memory runs out, so that the rank
// has enough memory to end the step.
#pragma once

#include "backends/backend.h"
#include "backends/out_of_memory.h"

#include <ATen/core/Tensor.h>

#include <exception>
#include <string>

namespace lockstep {

class MemoryReserve {
 public:
  explicit MemoryReserve(Backend& backend);  // allocates the reserve
  // Frees the reserve, and all unused memory in the allocator's cache.
  void free();
  // Does the same as free(). `error` is the error that reported lack of memory. The first line of
  // its message is kept for text().
  void free_after(const std::exception& error);
  // The first line of the error message that the last call of free_after got. It is empty if
  // free_after was never called.
  const std::string& text() const { return text_; }
  // Allocates the reserve again, if it was freed. If there is too little memory for that, the
  // reserve stays freed.
  void take();
  // Returns function(). If that call runs out of memory, calls free() and then function() once
  // more. Use this for work that the other ranks wait for, as retry_after_freeing.
  template <class Function>
  auto retry(const Function& function) {
    return retry_after_freeing(function, [this] { free(); });
  }

 private:
  Backend& backend_;
  at::Tensor reserve_;
  std::string text_;
};

}  // namespace lockstep
