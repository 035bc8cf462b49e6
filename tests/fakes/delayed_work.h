// Side work that is not done before somebody waits for it: what reads too early reads old values.
#pragma once

#include "fakes/graph_backend.h"
#include "ops/shared/side_work.h"

#include <ATen/core/grad_mode.h>

#include <deque>
#include <memory>
#include <stdexcept>
#include <utility>

namespace lockstep::testing {

class DelayedWork : public SideWork {
 public:
  explicit DelayedWork(int& done) : done_(done) {}
  std::int64_t run(const std::vector<at::Tensor>& read,
                   const std::function<void()>& work) override {
    waiting_.push_back({++last_, read, work});
    return last_;
  }
  void wait(std::int64_t number) override {
    const at::NoGradGuard no_grad;
    while (!waiting_.empty() && waiting_.front().number <= number) {
      waiting_.front().work();
      waiting_.pop_front();
      ++done_;
    }
  }
  void wait_for_all() override { wait(last_); }

 private:
  struct Waiting {
    std::int64_t number;
    std::vector<at::Tensor> read;
    std::function<void()> work;
  };
  std::int64_t last_ = 0;
  std::deque<Waiting> waiting_;
  int& done_;
};

// The CPU with graphs and such work. As on a GPU, its first call reserves what no capture may.
class DelayingBackend : public GraphBackend {
 public:
  int done = 0;  // works of all recordings
  std::unique_ptr<SideWork> side_work(bool) override {
    if (captures && !is_reserved_) throw std::runtime_error("side work begins in a capture");
    is_reserved_ = true;
    return std::make_unique<DelayedWork>(done);
  }

 private:
  bool is_reserved_ = false;
};

}  // namespace lockstep::testing
