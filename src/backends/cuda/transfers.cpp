// Uploads run on their own stream. Downloads run in the order of the current stream.
#include "backends/cuda/transfers.h"

#include "backends/cuda/event.h"
#include "core/base/check.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <utility>

namespace lockstep {
namespace {

at::Tensor pinned_like(const at::Tensor& dense) {
  return at::empty_strided(dense.sizes(), dense.strides(),
                           at::TensorOptions().dtype(dense.scalar_type()).pinned_memory(true));
}

at::Tensor dense(const at::Tensor& tensor) {
  return tensor.is_non_overlapping_and_dense() ? tensor : tensor.contiguous();
}

// Copies a tensor to pinned memory. A dense tensor keeps its layout, so that it is copied as one
// block.
at::Tensor pinned(const at::Tensor& host) {
  const at::Tensor source = dense(host);
  if (source.is_pinned()) return source;
  at::Tensor copy = pinned_like(source);
  copy.copy_(source);
  return copy;
}

class CudaUpload : public Upload {
 public:
  CudaUpload(const std::vector<at::Tensor>& host, c10::cuda::CUDAStream copy_stream) {
    const c10::cuda::CUDAStreamGuard guard(copy_stream);
    for (const at::Tensor& tensor : host) {
      LOCKSTEP_CHECK(tensor.is_cpu());
      sources_.push_back(pinned(tensor));
      const at::Tensor& source = sources_.back();
      copies_.push_back(at::empty_strided(source.sizes(), source.strides(),
                                          source.options().pinned_memory(false).device(at::kCUDA)));
      copies_.back().copy_(sources_.back(), /*non_blocking=*/true);
    }
    copied_.record(copy_stream);
  }

  // The caller may write to its tensors after this object is destroyed, so the destructor waits for
  // the copies. In practice they have finished, because the step that uses them has been enqueued
  // after them.
  ~CudaUpload() override {
    try {
      copied_.synchronize();
    } catch (const c10::Error&) {
      // The device has failed. The next call to it reports that.
    }
  }

  std::vector<at::Tensor> take() override {
    const c10::cuda::CUDAStream consumer = c10::cuda::getCurrentCUDAStream();
    copied_.make_wait(consumer);
    for (const at::Tensor& copy : copies_) copy.record_stream(consumer.unwrap());
    return std::move(copies_);
  }

 private:
  std::vector<at::Tensor> sources_, copies_;
  Event copied_;
};

class CudaDownload : public Download {
 public:
  explicit CudaDownload(const at::Tensor& tensor) {
    LOCKSTEP_CHECK(tensor.is_cuda());
    const at::Tensor source = dense(tensor.detach());
    host_ = pinned_like(source);
    const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
    // Does not use copy_. Otherwise torch would record an event on this stream when the memory is
    // freed. Another thread may free it while a graph is captured on this stream, and the event
    // would make the capture fail.
    C10_CUDA_CHECK(cudaMemcpyAsync(host_.mutable_data_ptr(), source.const_data_ptr(),
                                   source.nbytes(), cudaMemcpyDeviceToHost, stream));
    copied_.record(stream);
  }
  // Torch may reuse the memory at once, so the destructor waits for the copy.
  ~CudaDownload() override {
    try {
      copied_.synchronize();
    } catch (const c10::Error&) {
      // The device has failed. The next call to it reports that.
    }
  }
  bool ready() override { return copied_.reached(); }
  at::Tensor get() override {
    copied_.synchronize();
    return host_;
  }

 private:
  at::Tensor host_;
  Event copied_;
};

}  // namespace

at::Tensor pinned_empty(at::IntArrayRef sizes, at::ScalarType dtype) {
  return at::empty(sizes, at::TensorOptions().dtype(dtype).pinned_memory(true));
}

std::unique_ptr<Upload> start_upload(const std::vector<at::Tensor>& host,
                                     c10::cuda::CUDAStream copy_stream) {
  return std::make_unique<CudaUpload>(host, copy_stream);
}

std::unique_ptr<Download> start_download(const at::Tensor& tensor) {
  return std::make_unique<CudaDownload>(tensor);
}

}  // namespace lockstep
