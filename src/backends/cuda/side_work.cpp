#include "backends/cuda/side_work.h"

#include "backends/cuda/event.h"

#include <c10/cuda/CUDAGuard.h>

#include <deque>
#include <utility>

namespace lockstep {
namespace {

// The most pieces of work whose inputs are kept. More gain nothing, and hold memory that the step
// could use.
constexpr std::size_t most_kept = 3;

class StreamWork : public SideWork {
 public:
  explicit StreamWork(c10::cuda::CUDAStream side) : side_(side) {}

  std::int64_t run(const std::vector<at::Tensor>& read,
                   const std::function<void()>& work) override {
    Event ready;
    ready.record(c10::cuda::getCurrentCUDAStream());
    ready.make_wait(side_);
    {
      const c10::cuda::CUDAStreamGuard on_side(side_);
      work();
    }
    Running running{.number = ++last_,
                    .read = read,
                    .bytes = bytes_of(read),
                    .done = std::make_unique<Event>()};
    running.done->record(side_);
    running_.push_back(std::move(running));
    if (!read.empty()) keep_few();
    return last_;
  }

  void wait(std::int64_t number) override {
    std::deque<Running> done;
    while (!running_.empty() && running_.front().number <= number) {
      done.push_back(std::move(running_.front()));
      running_.pop_front();
    }
    if (!done.empty()) done.back().done->make_wait(c10::cuda::getCurrentCUDAStream());
  }
  void wait_for_all() override { wait(last_); }

 private:
  struct Running {
    std::int64_t number = 0;
    std::vector<at::Tensor> read;
    std::int64_t bytes = 0;
    std::unique_ptr<Event> done;
  };

  void keep_few() {
    std::size_t kept = 0;
    std::int64_t bytes = 0;
    for (const Running& running : running_) {
      kept += running.read.empty() ? 0 : 1;
      bytes += running.bytes;
    }
    while (kept > most_kept || (kept > 1 && bytes > side_work_bytes)) {
      kept -= running_.front().read.empty() ? 0 : 1;
      bytes -= running_.front().bytes;
      wait(running_.front().number);
    }
  }

  c10::cuda::CUDAStream side_;
  std::int64_t last_ = 0;
  std::deque<Running> running_;
};

}  // namespace

std::unique_ptr<SideWork> make_side_work(c10::cuda::CUDAStream side) {
  return std::make_unique<StreamWork>(side);
}

}  // namespace lockstep
