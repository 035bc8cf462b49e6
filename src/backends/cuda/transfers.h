// Copies tensors between pinned host memory and the GPU, overlapped with compute.
#pragma once

#include "backends/backend.h"

#include <c10/cuda/CUDAStream.h>

#include <memory>
#include <vector>

namespace lockstep {

// Returns uninitialised pinned memory from torch's caching host allocator. The allocator reuses
// freed memory. So after some steps, a loader's batches need no new pinned memory.
at::Tensor pinned_empty(at::IntArrayRef sizes, at::ScalarType dtype);

// Enqueues copies of the host tensors to the GPU on `copy_stream`, followed by an event. Host
// tensors that are not pinned are first copied into pinned memory. A copy has the strides of its
// host tensor if that tensor is dense, and is contiguous otherwise. Any thread may call this
// function.
std::unique_ptr<Upload> start_upload(const std::vector<at::Tensor>& host,
                                     c10::cuda::CUDAStream copy_stream);

// Enqueues a copy of `tensor` to pinned memory on the current stream. So later work on that stream
// may overwrite the tensor. The copy has the strides of the tensor if the tensor is dense, and is
// contiguous otherwise.
std::unique_ptr<Download> start_download(const at::Tensor& tensor);

}  // namespace lockstep
