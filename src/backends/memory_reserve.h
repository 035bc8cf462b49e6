// Keeps some device memory in reserve. It is freed when memory runs out, so that the rank can end
// the step.
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
  // Does the same after an error that reported lack of memory. Keeps the first line of its message
  // for text().
  void free_after(const std::exception& error);
  // The first line of the message from the last free_after. It is empty if there was none.
  const std::string& text() const { return text_; }
  // Allocates the reserve again, if it was freed. If memory is too short for that, there is no
  // reserve.
  void take();
  // Returns function(). If that runs out of memory, calls free() and then function() once more. Use
  // it for work that other ranks wait for: if a rank does not do it, they wait for ever.
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
