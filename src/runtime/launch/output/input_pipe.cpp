#include "runtime/launch/output/input_pipe.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "core/base/process/descriptors.h"

namespace lockstep {

InputPipe::InputPipe() {
  Pipe pipe = make_pipe();
  read_ = std::move(pipe.read);
  write_ = std::move(pipe.write);
  set_nonblocking(write_.get());
}

int InputPipe::fd() const {
  if (!write_) return -1;
  return writes() ? write_.get() : STDIN_FILENO;
}

void InputPipe::pass_on() {
  if (!write_) return;
  if (waiting_.empty()) {
    std::array<char, 4096> bytes;
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) return write_.reset();
    waiting_.assign(bytes.data(), static_cast<std::size_t>(got));
  }
  const ssize_t put = ::write(write_.get(), waiting_.data(), waiting_.size());
  if (put >= 0)
    waiting_.erase(0, static_cast<std::size_t>(put));
  else if (errno != EAGAIN && errno != EINTR)
    write_.reset();  // the reader has ended
}

}  // namespace lockstep
