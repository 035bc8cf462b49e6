// Copies between pinned host memory and the GPU that overlap with computing.
#pragma once

#include "engine/backend.h"

#include <c10/cuda/CUDAStream.h>

#include <memory>
#include <vector>

namespace lockstep {

// Pinned, from the caching host allocator: memory comes back to it when freed, so that a loader's
// batches settle into a fixed ring. Uninitialised.
at::Tensor pinned_empty(at::IntArrayRef sizes, at::ScalarType dtype);

// Enqueues the copies on `copy_stream`, with an event behind them. Host tensors that are not pinned
// are copied into pinned memory first. Copies have the strides of dense tensors, and are contiguous
// otherwise. Callable from any thread.
std::unique_ptr<Upload> start_upload(const std::vector<at::Tensor>& host,
                                     c10::cuda::CUDAStream copy_stream);

// Enqueues the copy on the current stream, so that work enqueued there later may overwrite the
// tensor at once. Strides as in an upload.
std::unique_ptr<Download> start_download(const at::Tensor& tensor);

}  // namespace lockstep
