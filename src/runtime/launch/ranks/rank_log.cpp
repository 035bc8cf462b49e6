#include "runtime/launch/ranks/rank_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/process/descriptors.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr std::uint64_t block_bytes = std::uint64_t{1} << 16;

// Returns false on an error.
bool put(int fd, std::string_view bytes, std::uint64_t place) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(place));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(done));
    place += static_cast<std::uint64_t>(done);
  }
  return true;
}

std::string get(int fd, std::uint64_t place, std::uint64_t bytes) {
  std::string text(bytes, '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), static_cast<off_t>(place));
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

}  // namespace

RankLog::RankLog(const std::filesystem::path& folder, int rank, std::uint64_t limit_bytes)
    : RankLog(folder / cat("rank", rank, ".log"), limit_bytes) {}

RankLog::RankLog(std::filesystem::path file, std::uint64_t limit_bytes)
    : path_(std::move(file)), limit_bytes_(limit_bytes) {
  // Another user may have prepared the run directory. So links are not followed, and a pipe cannot
  // block the open.
  constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  file_ = above_stderr(UniqueFd(::open(path_.c_str(), flags, 0644)));
  if (!file_ && errno == ELOOP)  // the error of O_NOFOLLOW
    throw Error(cat("cannot write the log ", path_.string(), ": it is a link"), "remove it");
  if (!file_)
    throw Error(cat("cannot open the log ", path_.string(), ": ", errno_text(errno)),
                "is there write permission, and space?");
  struct stat state {};
  if (::fstat(file_.get(), &state) != 0 || !S_ISREG(state.st_mode))
    throw Error(cat("cannot write the log ", path_.string(), ": it must be a regular file"),
                "remove it");
}

void RankLog::divide(std::string_view line) {
  struct stat state {};
  if (::fstat(file_.get(), &state) != 0 || state.st_size == 0) return;
  const bool ends_line = get(file_.get(), static_cast<std::uint64_t>(state.st_size) - 1, 1) == "\n";
  write(cat(ends_line ? "" : "\n", line, "\n"));
}

void RankLog::write(std::string_view bytes) {
  struct stat state {};
  if (::fstat(file_.get(), &state) != 0) return;
  auto size = static_cast<std::uint64_t>(state.st_size);
  if (limit_bytes_ > 0 && size + bytes.size() > limit_bytes_) {
    leave_out_the_middle(size);
    if (::fstat(file_.get(), &state) != 0) return;
    size = static_cast<std::uint64_t>(state.st_size);
  }
  put(file_.get(), bytes, size);
}

// The end of the last line that ends at or before `place`. In a very long line, `place` itself.
std::uint64_t RankLog::line_end_before(std::uint64_t place) const {
  const std::uint64_t begin = place - std::min(place, block_bytes);
  const std::size_t newline = get(file_.get(), begin, place - begin).rfind('\n');
  return newline == std::string::npos ? place : begin + newline + 1;
}

void RankLog::leave_out_the_middle(std::uint64_t size) {
  if (head_bytes_ == 0) head_bytes_ = line_end_before(limit_bytes_ / 2);
  std::uint64_t from = line_end_before(size - std::min(size, limit_bytes_ / 4));
  if (from <= head_bytes_) return;  // the log has no middle to remove
  left_out_bytes_ += from - head_bytes_;
  const std::string mark = cat("[… ", format_bytes(static_cast<double>(left_out_bytes_)),
                               " left out here: the log has a limit of ",
                               format_bytes(static_cast<double>(limit_bytes_)), "]\n");
  std::uint64_t to = head_bytes_;
  bool good = put(file_.get(), mark, to);
  to += mark.size();
  while (good && from < size) {
    const std::string block = get(file_.get(), from, std::min(block_bytes, size - from));
    good = !block.empty() && put(file_.get(), block, to);
    from += block.size();
    to += block.size();
  }
  [[maybe_unused]] const int cut = ::ftruncate(file_.get(), static_cast<off_t>(to));
}

}  // namespace lockstep
