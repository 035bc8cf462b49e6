// Tells the C library and the kernel how to handle this process's memory, to save time.
#pragma once

#include <cstddef>

namespace lockstep {

// Makes the C library keep freed memory for later allocations instead of returning it to the
// system. Training allocates the same sizes in every step, and with small batches, getting new
// pages from the system takes longer than the computation. Affects the whole process. Has no effect
// if the C library is not glibc, or if a MALLOC_ variable of glibc is set.
void keep_freed_memory();

// Requests pages of 2 MiB for memory that has not been written yet, because the first access to a 4
// KiB page takes longer than filling it. Only 2 MiB pages that lie completely in the range are
// affected. Has no effect if the system has no such pages.
void prefer_large_pages(const void* data, std::size_t bytes);

// Calls reserve(count) for a large container, such as a data set, and prefer_large_pages for its
// memory.
template <class Container>
void reserve_in_large_pages(Container& values, std::size_t count) {
  values.reserve(count);
  prefer_large_pages(values.data(), count * sizeof(*values.data()));
}

}  // namespace lockstep
