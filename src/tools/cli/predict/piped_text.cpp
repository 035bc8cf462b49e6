#include "tools/cli/predict/piped_text.h"

#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/files/write_all.h"
#include "core/base/text/text.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace lockstep::cli {
namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;

bool may_hold_text(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return false;
  if (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)) return true;
  return S_ISREG(info.st_mode) && lseek(fd, 0, SEEK_CUR) == 0;
}

bool comes_in_time(int fd, double patience_s) {
  pollfd input{.fd = fd, .events = POLLIN, .revents = 0};
  int ready = 0;
  do {
    ready = poll(&input, 1, static_cast<int>(patience_s * 1000));
  } while (ready < 0 && errno == EINTR);
  return ready != 0;
}

}  // namespace

std::string text_to_the_end(int fd) {
  std::string text;
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(cat("cannot read standard input: ", errno_text(errno)));
    if (count == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > most_bytes)
      throw Error(cat("standard input is longer than ", format_bytes(most_bytes)),
                  "give a shorter text");
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

bool has_piped_text(int fd, double patience_s, const std::function<void(const std::string&)>& say) {
  if (!may_hold_text(fd)) return false;
  if (comes_in_time(fd, patience_s)) return true;
  say(cat("nothing has come from standard input for ", general(patience_s, 3),
          " s: going on without it (< /dev/null says so at once; - as the operand waits)"));
  return false;
}

void copy_to_file(int fd, const std::filesystem::path& file, const std::function<void()>& look_up) {
  constexpr int look_up_ms = 200;
  const UniqueFd to(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  std::vector<char> buffer(1 << 16);
  for (;;) {
    pollfd waits{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = poll(&waits, 1, look_up_ms);
    look_up();
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(cat("cannot read standard input: ", errno_text(errno)));
    if (count == 0) return;
    if (!to || !write_all(to.get(), {buffer.data(), static_cast<std::size_t>(count)}))
      throw Error(cat("cannot write ", file.string(), ": ", errno_text(errno)),
                  "TMPDIR names a folder with more space");
  }
}

std::optional<std::string> piped_text(int fd, double patience_s,
                                      const std::function<void(const std::string&)>& say) {
  if (!has_piped_text(fd, patience_s, say)) return std::nullopt;
  std::string text = text_to_the_end(fd);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

}  // namespace lockstep::cli
