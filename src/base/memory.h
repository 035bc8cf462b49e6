// How the process deals with memory that it has freed.
#pragma once

namespace lockstep {

// Keeps freed memory for the next allocation instead of handing it back to the system. Training
// allocates the same sizes at every step, and fresh pages cost more than the work on small
// batches. Process-wide; does nothing where the C library is not glibc, or where a MALLOC_ variable
// of glibc is set.
void keep_freed_memory();

}  // namespace lockstep
