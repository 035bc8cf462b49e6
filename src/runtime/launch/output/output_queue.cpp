#include "runtime/launch/output/output_queue.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/write_all.h"
#include "core/base/process/descriptors.h"
#include "core/base/process/signal_mask.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr std::size_t most_waiting_bytes = std::size_t{1} << 20;

}  // namespace

struct OutputQueue::State {
  explicit State(int the_fd) : fd(the_fd) {}
  void write_until_closed();
  std::size_t bytes() const { return waiting.size() + writing.size(); }

  const int fd;
  UniqueFd progress;
  mutable std::mutex mutex;
  std::condition_variable changed;
  // While `writing` is not empty, it belongs to the thread.
  std::string waiting, writing;
  bool broken = false, closed = false;
};

void OutputQueue::State::write_until_closed() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return closed || !waiting.empty(); });
    if (closed) return;
    std::swap(waiting, writing);
    lock.unlock();
    const bool written = write_all(fd, writing);
    lock.lock();
    writing.clear();
    if (!written) {
      broken = true;
      waiting.clear();
    }
    changed.notify_all();
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t told = ::write(progress.get(), &one, sizeof one);
  }
}

OutputQueue::OutputQueue(int fd) : state_(std::make_shared<State>(fd)) {
  state_->progress = above_stderr(UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
  if (!state_->progress)
    throw Error(cat("cannot make an event descriptor: ", errno_text(errno)),
                "is the limit of open files (ulimit -n) too low?");
  const BlockedSignals blocked;
  std::thread([state = state_] { state->write_until_closed(); }).detach();
}

OutputQueue::~OutputQueue() {
  const std::lock_guard lock(state_->mutex);
  state_->closed = true;
  state_->changed.notify_all();
}

void OutputQueue::add(std::string_view text) {
  const std::lock_guard lock(state_->mutex);
  if (state_->broken) return;
  state_->waiting.append(text);
  state_->changed.notify_all();
}

bool OutputQueue::full() const {
  const std::lock_guard lock(state_->mutex);
  return state_->bytes() > most_waiting_bytes;
}

bool OutputQueue::empty() const {
  const std::lock_guard lock(state_->mutex);
  return state_->bytes() == 0;
}

int OutputQueue::progress_fd() const { return state_->progress.get(); }

void OutputQueue::forget_progress() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(state_->progress.get(), &count, sizeof count);
}

bool OutputQueue::wait_s(double at_most_s) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, std::chrono::duration<double>(at_most_s),
                                  [this] { return state_->bytes() == 0; });
}

}  // namespace lockstep
