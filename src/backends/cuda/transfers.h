// Copies between pinned host memory and the GPU that overlap with compute.
#pragma once

#include "backends/backend.h"

#include <c10/cuda/CUDAStream.h>

#include <memory>
#include <vector>

namespace lockstep {

// Returns uninitialised pinned memory from the caching host allocator. Freed memory returns to this
// allocator. So after some steps a loader's batches use the same blocks again and again.
at::Tensor pinned_empty(at::IntArrayRef sizes, at::ScalarType dtype);

// Enqueues the copies on `copy_stream`, followed by an event. Unpinned host tensors are first
// copied into pinned memory. Copies keep the strides of dense tensors, and are contiguous
// otherwise. Callable from any thread.
std::unique_ptr<Upload> start_upload(const std::vector<at::Tensor>& host,
                                     c10::cuda::CUDAStream copy_stream);

// Enqueues the copy on the current stream, so that work enqueued there later may overwrite the
// tensor. Strides are as in an upload.
std::unique_ptr<Download> start_download(const at::Tensor& tensor);

}  // namespace lockstep
