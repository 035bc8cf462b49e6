#include "tools/cli/train/end_at_interrupt.h"

#include "core/base/process/signal_name.h"
#include "runtime/launch/launch.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace lockstep::cli {

EndAtInterrupt::EndAtInterrupt(std::function<void(const std::string& signal)> last_words)
    : last_words_(std::move(last_words)), thread_([this] { wait(); }) {}

EndAtInterrupt::~EndAtInterrupt() {
  done_.write.reset();
  thread_.join();
}

void EndAtInterrupt::wait() {
  std::array<pollfd, 2> watched{
      {{.fd = signals_.fd(), .events = POLLIN}, {.fd = done_.read.get(), .events = POLLIN}}};
  for (;;) {
    ::poll(watched.data(), watched.size(), -1);
    if (watched[1].revents != 0) return;
    const std::vector<int> came = signals_.take();
    if (came.empty()) continue;
    last_words_(signal_name(came.front()));
    ::_exit(exit_interrupted);  // other threads are still working
  }
}

}  // namespace lockstep::cli
