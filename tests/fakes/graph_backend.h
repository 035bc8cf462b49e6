// The CPU with graphs: what is recorded runs when it is replayed, from the same tensors.
#pragma once

#include "engine/backend.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

namespace lockstep::testing {

class GraphBackend : public Backend {
 public:
  bool fails = false;  // recording does
  int recorded = 0, replayed = 0;

  bool has_graphs() const override { return true; }
  std::unique_ptr<Graph> capture(const std::function<void()>& work) override {
    if (fails) throw std::runtime_error("operation not permitted when stream is capturing\nat …");
    ++recorded;
    return std::make_unique<Replay>(work, replayed);
  }

  at::Device device() const override { return cpu_backend().device(); }
  std::string description() const override { return "CPU with graphs"; }
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
  MemoryUse memory() override { return cpu_backend().memory(); }
  void release_cached_memory() override {}

 private:
  class Replay : public Graph {
   public:
    Replay(std::function<void()> work, int& replayed)
        : work_(std::move(work)), replayed_(replayed) {}
    void replay() override {
      ++replayed_;
      const at::AutoGradMode as_recorded(true);
      work_();
    }

   private:
    std::function<void()> work_;
    int& replayed_;
  };
};

}  // namespace lockstep::testing
