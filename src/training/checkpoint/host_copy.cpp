#include "training/checkpoint/host_copy.h"

#include "backends/out_of_memory.h"

#include <utility>

namespace lockstep {
namespace {

class OnHost : public Download {
 public:
  explicit OnHost(at::Tensor tensor) : tensor_(std::move(tensor)) {}
  bool ready() override { return true; }
  at::Tensor get() override { return tensor_; }

 private:
  at::Tensor tensor_;
};

}  // namespace

std::unique_ptr<Download> on_host(at::Tensor tensor) {
  return std::make_unique<OnHost>(std::move(tensor));
}

std::unique_ptr<Download> copy_to_host(Backend& backend, const at::Tensor& tensor) {
  try {
    return retry_after_freeing([&] { return backend.download(tensor); },
                               [&] {
                                 backend.release_cached_memory();
                                 backend.release_cached_host_memory();
                               });
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
  }
  const at::Tensor source = tensor.detach();
  return on_host(source.is_cpu() ? source.clone() : source.to(at::kCPU));
}

}  // namespace lockstep
