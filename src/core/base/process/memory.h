// How the process treats memory that it has freed or not yet used.
#pragma once

#include <cstddef>

namespace lockstep {

// Keeps freed memory for the next allocation instead of returning it to the system. Training
// allocates the same sizes at every step, and fresh pages cost more than the work on small batches.
// Process-wide. Has no effect if the C library is not glibc, or if a MALLOC_ variable of glibc is
// set.
void keep_freed_memory();

// Asks for pages of 2 MiB for memory that is still untouched, as far as whole pages lie in it and
// the system has them. The first touch of a 4 KiB page takes longer than filling it.
void prefer_large_pages(const void* data, std::size_t bytes);

// Reserves room for `count` values, in large pages. For containers as large as a data set.
template <class Container>
void reserve_in_large_pages(Container& values, std::size_t count) {
  values.reserve(count);
  prefer_large_pages(values.data(), count * sizeof(*values.data()));
}

}  // namespace lockstep
