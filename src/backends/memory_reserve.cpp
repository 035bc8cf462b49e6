#include "backends/memory_reserve.h"

#include "backends/exception_text.h"

#include <ATen/ops/empty.h>

#include <cstdint>
#include <exception>

namespace lockstep {
namespace {

// About the most memory that the end of a step needs besides the gradients.
constexpr std::int64_t reserve_bytes = std::int64_t{32} << 20;

}  // namespace

MemoryReserve::MemoryReserve(Backend& backend)
    : backend_(backend),
      reserve_(at::empty({reserve_bytes},
                         at::TensorOptions().dtype(at::kByte).device(backend.device()))) {}

void MemoryReserve::free() {
  reserve_.reset();
  backend_.release_cached_memory();
}

void MemoryReserve::free_after(const std::exception& error) {
  text_ = first_line_of(error);
  free();
}

void MemoryReserve::take() {
  if (reserve_.defined()) return;
  try {
    reserve_ =
        at::empty({reserve_bytes}, at::TensorOptions().dtype(at::kByte).device(backend_.device()));
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
  }
}

}  // namespace lockstep
