// Device memory that is kept in reserve. When memory runs out, it is freed, so that the step can be
// ended.
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
  // Frees the reserve, and the memory that the allocator has cached.
  void free();
  // The same after `error`, which reported that memory ran out.
  void free_after(const std::exception& error);
  // The message of that error, one line; empty: it never happened.
  const std::string& text() const { return text_; }
  // Allocates the reserve again. If this fails, continues without a reserve.
  void take();
  // Returns function(). If it runs out of memory, calls it once more after `free`. It is for work
  // that a rank must do, because the other ranks would wait for it for ever.
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
