#include "launch/rank_process.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/descriptors.h"
#include "base/error.h"
#include "base/text.h"
#include "base/write_all.h"
#include "launch/log_tail.h"

namespace lockstep {

RankLog open_log(const std::filesystem::path& folder, int rank) {
  RankLog log{.path = folder / cat("rank", rank, ".log")};
  log.file = above_stderr(
      UniqueFd(::open(log.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)));
  struct stat state {};
  if (!log.file || ::fstat(log.file.get(), &state) != 0) {
    throw Error(cat("cannot open the log ", log.path.string(), ": ", errno_text(errno)),
                "is there write permission, and space?");
  }
  log.from = static_cast<std::uint64_t>(state.st_size);
  return log;
}

RankProcess::RankProcess(ChildGroup group, RankLog log, UniqueFd output, Lines::Take forward)
    : group_(std::move(group)),
      log_(std::move(log)),
      output_(std::move(output)),
      lines_(std::move(forward)) {
  if (output_) set_nonblocking(output_.get());
}

void RankProcess::copy_output() {
  std::array<char, 65536> buffer;
  while (output_) {
    const ssize_t got = ::read(output_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      output_.reset();
      return;
    }
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    write_all(log_.file.get(), bytes);  // a full disk must not end the run
    lines_.add(bytes);
  }
}

void RankProcess::finish_output() {
  copy_output();
  lines_.finish();
}

std::string RankProcess::last_lines() const { return log_tail(log_.path, log_.from, 20); }

}  // namespace lockstep
