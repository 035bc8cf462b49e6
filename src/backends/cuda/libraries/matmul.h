// Computes low-precision matrix products with cuBLASLt.
#pragma once

#include "ops/shared/kernel_arguments.h"

namespace lockstep {

// Runs the product on the current stream. Returns false and does nothing if cuBLASLt has no
// algorithm for the product. All products on one stream share a workspace.
//
// Each shape may be tuned once, at its second product or a later one. Tuning means that the
// function times up to 16 algorithms that cuBLASLt proposes, and keeps the fastest. This blocks the
// host for some milliseconds. A shape is tuned if all of these conditions hold:
//   - matmul_tuning() is true, and ATen is not set to be deterministic;
//   - no graph is being captured;
//   - fewer than 128 shapes were tuned before.
// Throws c10::Error if cuBLASLt or CUDA reports a failure.
bool run_matmul(const MatmulArguments& arguments);
// Allocates the current stream's workspace if it has none. Call it outside of a capture, because
// memory that is allocated in a capture is freed with the graph.
void reserve_matmul_workspace();

}  // namespace lockstep
