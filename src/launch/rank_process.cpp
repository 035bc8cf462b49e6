#include "launch/rank_process.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/descriptors.h"

namespace lockstep {
namespace {

// Of 64 KiB, which is what a pipe holds unless its owner made it larger.
constexpr int reads_in_a_turn = 1, reads_at_the_end = 16;

}  // namespace

RankProcess::Source::Source(RankPipe pipe, bool to_the_log)
    : fd(std::move(pipe.fd)),
      stream(pipe.stream),
      is_output(to_the_log),
      has_lines(static_cast<bool>(pipe.take)),
      lines(std::move(pipe.take)) {
  set_nonblocking(fd.get());
}

RankProcess::RankProcess(ChildGroup group, RankLog log, std::vector<RankPipe> output,
                         RankPipe events)
    : group_(std::move(group)), log_(std::move(log)) {
  for (RankPipe& pipe : output) sources_.emplace_back(std::move(pipe), true);
  if (events.fd) sources_.emplace_back(std::move(events), false);
}

std::vector<int> RankProcess::fds(const std::function<bool(StandardStream)>& waits) const {
  std::vector<int> all;
  for (const Source& source : sources_)
    if (source.fd && !(source.is_output && waits(source.stream))) all.push_back(source.fd.get());
  return all;
}

void RankProcess::read(const std::function<bool(StandardStream)>& waits) {
  for (Source& source : sources_)
    if (!(source.is_output && waits(source.stream))) read(source, reads_in_a_turn);
}

void RankProcess::read(Source& source, int most_reads) {
  std::array<char, 65536> buffer;
  for (int reads = 0; source.fd && reads < most_reads;) {
    const ssize_t got = ::read(source.fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      source.fd.reset();
      return;
    }
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    if (source.is_output) {
      log_.write(bytes);
      tail_.add(bytes);
    }
    if (source.has_lines) source.lines.add(bytes);
    ++reads;
  }
}

void RankProcess::read_rest() {
  // Whoever left the group may hold a pipe still and print on: only what lies there now.
  for (Source& source : sources_) {
    read(source, reads_at_the_end);
    if (source.has_lines && source.is_output) source.lines.finish();
  }
}

}  // namespace lockstep
