// Device memory that is kept for the moment when there is none left, so that a step can be ended.
#pragma once

#include "backends/backend.h"
#include "backends/out_of_memory.h"

#include <ATen/core/Tensor.h>

#include <exception>
#include <string>

namespace lockstep {

class MemoryReserve {
 public:
  explicit MemoryReserve(Backend& backend);  // takes it
  // Gives it back to the device, with what the allocator has cached.
  void free();
  // The same after `error`, which said that there was no memory.
  void free_after(const std::exception& error);
  // The message of that error, one line; empty: it never happened.
  const std::string& text() const { return text_; }
  // Takes it again; where that fails, goes on without.
  void take();
  // Returns function(). If memory runs out in it, calls it once more after `free`. For work that a
  // rank cannot leave out without the others waiting for it for ever.
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
