// Low-precision matrix products through cuBLASLt.
#pragma once

#include "ops/shared/kernel_arguments.h"

namespace lockstep {

// Runs on the current stream. Products of a stream share a workspace. If cuBLASLt has no algorithm
// for the product, does nothing and returns false. If matmul_tuning() is true and no graph is being
// captured, the second call of a shape tries all algorithms that cuBLASLt proposes, and keeps the
// fastest. This blocks the host for some milliseconds. Throws c10::Error on a failure.
bool run_matmul(const MatmulArguments& arguments);
// Allocates the current stream's workspace if it has none. Call it outside a capture, because
// memory allocated in a capture is freed with it.
void reserve_matmul_workspace();

}  // namespace lockstep
