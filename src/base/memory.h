// How the process deals with memory that it has freed.
#pragma once

#include <cstddef>

namespace lockstep {

// Keeps freed memory for the next allocation instead of handing it back to the system. Training
// allocates the same sizes at every step, and fresh pages cost more than the work on small
// batches. Process-wide; does nothing where the C library is not glibc, or where a MALLOC_ variable
// of glibc is set.
void keep_freed_memory();

// Memory that nobody has touched yet comes in pages of 2 MiB, where the system has them and as far
// as whole ones lie in it: the first touch of a page of 4 KiB takes longer than to fill it.
void prefer_large_pages(const void* data, std::size_t bytes);

// Room for so many, in large pages. For what is as large as a data set.
template <class Container>
void reserve_in_large_pages(Container& values, std::size_t count) {
  values.reserve(count);
  prefer_large_pages(values.data(), count * sizeof(*values.data()));
}

}  // namespace lockstep
