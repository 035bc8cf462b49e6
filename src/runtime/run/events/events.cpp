// Appends, reads and rewinds the events of a run.
#include "runtime/run/events/events.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>

#include "core/base/clock.h"
#include "core/base/files/write_all.h"
#include "core/base/whole_number.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

int echo_descriptor() {
  const char* text = std::getenv("LOCKSTEP_EVENTS_FD");
  if (!text) return -1;
  const int fd = whole_number<int>(text).value_or(-1);
  if (fd < 0 || fcntl(fd, F_GETFD) < 0) return -1;
  fcntl(fd, F_SETFD, FD_CLOEXEC);  // a child process must not keep the pipe open
  return fd;
}

// Writes without SIGPIPE, which would end this process if the reader has ended.
bool write_to_pipe(int fd, std::string_view text) {
  sigset_t pipe_signal, before, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const bool written = write_all(fd, text);
  if (!written && errno == EPIPE && !sigismember(&pending, SIGPIPE)) {
    const timespec at_once = {};
    sigtimedwait(&pipe_signal, nullptr, &at_once);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return written;
}

}  // namespace

EventWriter::EventWriter(const std::filesystem::path& path)
    : file_(open_lines(path)), echo_fd_(echo_descriptor()) {}

EventWriter::EventWriter() : echo_fd_(echo_descriptor()) {}

void EventWriter::write(const nlohmann::json& event) {
  nlohmann::json stamped = event;
  if (!stamped.contains("time")) stamped["time"] = system_clock().wall_s();
  const std::string line = to_line(stamped);
  if (file_ && !append_line(file_.get(), line)) ++failed_;
  if (echo_fd_ >= 0 && !write_to_pipe(echo_fd_, line + '\n')) echo_fd_ = -1;
}

void EventWriter::sync() {
  if (file_) fdatasync(file_.get());
}

std::vector<nlohmann::json> read_events(const std::filesystem::path& path, int* bad_lines) {
  std::vector<nlohmann::json> events;
  int bad = 0;
  for_each_line(path, [&](const std::string& line) {
    nlohmann::json event = parse_object(line);
    if (event.is_discarded())
      ++bad;
    else
      events.push_back(std::move(event));
  });
  if (bad_lines) *bad_lines = bad;
  return events;
}

std::vector<nlohmann::json> effective_events(std::vector<nlohmann::json> events) {
  constexpr std::int64_t no_step = std::numeric_limits<std::int64_t>::min();
  std::vector<nlohmann::json> kept;
  kept.reserve(events.size());
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    const std::int64_t step = integer_or(*event, "step", no_step);
    if (step > last) continue;
    if (text_or(*event, "kind", "") == "resume" && step != no_step) last = std::min(last, step);
    kept.push_back(std::move(*event));
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

}  // namespace lockstep
