#include "runtime/launch/signals.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "core/base/check.h"
#include "core/base/process/descriptors.h"

namespace lockstep {
namespace {

std::atomic<int> write_end = -1;
static_assert(std::atomic<int>::is_always_lock_free);

void note(int number) {
  const int saved = errno;
  const char byte = static_cast<char>(number);
  [[maybe_unused]] const ssize_t written = ::write(write_end.load(), &byte, 1);
  errno = saved;
}

}  // namespace

SignalPipe::SignalPipe() {
  LOCKSTEP_CHECK(write_end.load() < 0);
  Pipe pipe = make_pipe();
  set_nonblocking(pipe.read.get());
  set_nonblocking(pipe.write.get());
  read_ = std::move(pipe.read);
  write_ = std::move(pipe.write);
  write_end.store(write_.get());
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    const int number = numbers_[i];
    ::sigaction(number, nullptr, &before_[i]);
    struct sigaction action {};
    ::sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    action.sa_handler = number == SIGPIPE ? SIG_IGN : number == SIGCHLD ? SIG_DFL : note;
    if (number == SIGHUP && before_[i].sa_handler == SIG_IGN) continue;
    ::sigaction(number, &action, nullptr);
  }
}

SignalPipe::~SignalPipe() {
  for (std::size_t i = 0; i < numbers_.size(); ++i) ::sigaction(numbers_[i], &before_[i], nullptr);
  write_end.store(-1);
}

std::vector<int> SignalPipe::take() {
  std::vector<int> came;
  char bytes[64];
  ssize_t got = 0;
  while ((got = ::read(read_.get(), bytes, sizeof bytes)) > 0 || (got < 0 && errno == EINTR)) {
    for (ssize_t i = 0; i < got; ++i) came.push_back(bytes[i]);
  }
  return came;
}

}  // namespace lockstep
