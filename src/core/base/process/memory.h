// Controls how the process uses memory that it has freed or not yet used.
#pragma once

#include <cstddef>

namespace lockstep {

// Keeps freed memory for the next allocation instead of returning it to the system. Training
// allocates the same sizes in every step, and new pages cost more than the computation of small
// batches. Affects the whole process. Has no effect if the C library is not glibc, or if a MALLOC_
// variable of glibc is set.
void keep_freed_memory();

// Requests 2 MiB pages for memory that has not been touched yet. The reason is that the first touch
// of a 4 KiB page takes longer than filling it. The request applies to the whole pages in the
// range, and only if the system has such pages.
void prefer_large_pages(const void* data, std::size_t bytes);

// Reserves room for `count` values in large pages, for containers as large as a data set.
template <class Container>
void reserve_in_large_pages(Container& values, std::size_t count) {
  values.reserve(count);
  prefer_large_pages(values.data(), count * sizeof(*values.data()));
}

}  // namespace lockstep
