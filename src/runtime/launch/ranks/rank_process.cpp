#include "runtime/launch/ranks/rank_process.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "core/base/process/descriptors.h"

namespace lockstep {
namespace {

// Numbers of reads. Each read gets up to 64 KiB, the default capacity of a pipe.
constexpr int reads_in_a_turn = 1, reads_at_the_end = 16;

}  // namespace

RankProcess::RankProcess(ChildGroup group, RankLog log, bool plain, std::vector<RankPipe> output,
                         UniqueFd events, LineSplitter::Take take)
    : group_(std::move(group)),
      log_(std::move(log)),
      plain_(plain),
      events_(std::move(events)),
      event_lines_(std::move(take)) {
  for (RankPipe& pipe : output) {
    set_nonblocking(pipe.fd.get());
    sources_.push_back({std::move(pipe)});
  }
  if (events_) set_nonblocking(events_.get());
}

std::vector<int> RankProcess::fds(const std::function<bool(StandardStream)>& waits) const {
  std::vector<int> all;
  for (const Source& source : sources_)
    if (source.pipe.fd && !waits(source.pipe.stream)) all.push_back(source.pipe.fd.get());
  if (events_) all.push_back(events_.get());
  return all;
}

void RankProcess::read(const std::function<bool(StandardStream)>& waits) {
  for (Source& source : sources_)
    if (!waits(source.pipe.stream)) read_output(source, reads_in_a_turn);
  read_events(reads_in_a_turn);
}

// Reads available bytes, at most 64 KiB, and returns their number. Closes the descriptor at the end
// of the output. A pseudo-terminal signals the end by an error.
std::size_t RankProcess::read(UniqueFd& fd, std::string& bytes) {
  std::array<char, 65536> buffer;
  while (fd) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return 0;
    if (got > 0) {
      bytes.assign(buffer.data(), static_cast<std::size_t>(got));
      return bytes.size();
    }
    fd.reset();
  }
  return 0;
}

void RankProcess::read_output(Source& source, int most_reads) {
  std::string bytes;
  for (int reads = 0; reads < most_reads && read(source.pipe.fd, bytes) > 0; ++reads) {
    keep(plain_ ? source.lines.add(bytes) : bytes);
    source.has_news = true;
    if (source.pipe.show) source.pipe.show(bytes);
  }
}

void RankProcess::keep_parts(double now_s) {
  constexpr double moment_s = 1;
  for (Source& source : sources_) {
    if (std::exchange(source.has_news, false)) source.quiet_since_s = now_s;
    if (now_s < source.quiet_since_s + moment_s) continue;
    if (const std::string part = source.lines.take_part(); !part.empty()) keep(part);
  }
}

void RankProcess::read_events(int most_reads) {
  std::string bytes;
  for (int reads = 0; reads < most_reads && read(events_, bytes) > 0; ++reads)
    event_lines_.add(bytes);
}

void RankProcess::keep(std::string_view bytes) {
  log_.write(bytes);
  tail_.add(bytes);
}

void RankProcess::read_rest() {
  // A process that left the group may still hold the pipe and write to it. So only the bytes that
  // are available now are read.
  for (Source& source : sources_) {
    read_output(source, reads_at_the_end);
    if (std::string rest = source.lines.finish(); !rest.empty()) keep(rest += '\n');
  }
  read_events(reads_at_the_end);
}

}  // namespace lockstep
