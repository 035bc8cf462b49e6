// Matrix products of low precision through cuBLASLt.
#pragma once

#include "kernels/kernel_arguments.h"

namespace lockstep {

// On the current stream; products of a stream share a workspace. False
// where cuBLASLt has no algorithm for it; nothing was done then. The second call of a shape, unless
// a graph is being captured, tries all algorithms that cuBLASLt proposes and keeps the fastest, if
// matmul_tuning(); that blocks the host for some milliseconds. Throws c10::Error on a failure.
bool run_matmul(const MatmulArguments& arguments);
// The workspace of the current stream, if it has none: outside of a capture, whose memory goes
// back.
void reserve_matmul_workspace();

}  // namespace lockstep
