// The CPU's backend under another object, for tests that change a part of it.
#pragma once

#include "backends/backend.h"

#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::testing {

class ForwardingBackend : public Backend {
 public:
  at::Device device() const override { return cpu_backend().device(); }
  std::string description() const override { return "fake"; }
  void use_training_stream() override {}
  c10::intrusive_ptr<c10d::Backend> make_group(const c10::intrusive_ptr<c10d::Store>& store,
                                               const World& world,
                                               std::chrono::milliseconds timeout) override {
    return cpu_backend().make_group(store, world, timeout);
  }
  at::Tensor host_empty(at::IntArrayRef sizes, at::ScalarType dtype) override {
    return cpu_backend().host_empty(sizes, dtype);
  }
  std::unique_ptr<Upload> upload(std::vector<at::Tensor> host) override {
    return cpu_backend().upload(std::move(host));
  }
  std::unique_ptr<Download> download(const at::Tensor& tensor) override {
    return cpu_backend().download(tensor);
  }
  void stamp(const at::Tensor& slot) override { cpu_backend().stamp(slot); }
  void synchronize() override {}
  MemoryUse memory() override { return {}; }
  void release_cached_memory() override {}
};

}  // namespace lockstep::testing
