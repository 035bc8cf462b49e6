// Low-precision matrix products through cuBLASLt.
#pragma once

#include "ops/shared/kernel_arguments.h"

namespace lockstep {

// Runs on the current stream; products of a stream share a workspace. Returns false, having done
// nothing, if cuBLASLt has no algorithm for it. The second call of a shape tries all algorithms
// that cuBLASLt proposes and keeps the fastest, if matmul_tuning() and no graph is being captured.
// That blocks the host for some milliseconds. Throws c10::Error on a failure.
bool run_matmul(const MatmulArguments& arguments);
// Allocates the current stream's workspace if it has none. Call it outside a capture, whose memory
// is returned.
void reserve_matmul_workspace();

}  // namespace lockstep
