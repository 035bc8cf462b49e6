// The CPU with graphs: what is recorded runs when it is replayed, from the same tensors.
#pragma once

#include "fakes/forwarding_backend.h"

#include <ATen/core/grad_mode.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

namespace lockstep::testing {

class GraphBackend : public ForwardingBackend {
 public:
  bool fails = false;  // recording does
  int recorded = 0, replayed = 0;

  bool has_graphs() const override { return true; }
  std::unique_ptr<Graph> capture(const std::function<void()>& work) override {
    if (fails) throw std::runtime_error("operation not permitted when stream is capturing\nat …");
    ++recorded;
    return std::make_unique<Replay>(work, replayed);
  }

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
