// The CPU with graphs: what is captured runs when it is replayed, from the same tensors.
#pragma once

#include "fakes/forwarding_backend.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/ScopeExit.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

namespace lockstep::testing {

class GraphBackend : public ForwardingBackend {
 public:
  bool fails = false;  // capture does
  int captured = 0, replayed = 0;
  bool captures = false;  // a graph runs, as its capture would

  bool has_graphs() const override { return true; }
  std::unique_ptr<Graph> capture(const std::function<void()>& work) override {
    if (fails) throw std::runtime_error("operation not permitted when stream is capturing\nat …");
    ++captured;
    return std::make_unique<Replay>(work, *this);
  }

 private:
  class Replay : public Graph {
   public:
    Replay(std::function<void()> work, GraphBackend& backend)
        : work_(std::move(work)), backend_(backend) {}
    void replay() override {
      ++backend_.replayed;
      backend_.captures = true;
      const auto end = c10::make_scope_exit([this] { backend_.captures = false; });
      const at::AutoGradMode as_captured(true);
      work_();
    }

   private:
    std::function<void()> work_;
    GraphBackend& backend_;
  };
};

}  // namespace lockstep::testing
