#include "runtime/run/events/last_line.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/errno_hint.h"
#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

// Reads all `count` bytes from `begin` on. If it returns false, errno gives the reason.
bool read_fully(int fd, char* to, off_t count, off_t begin) {
  while (count > 0) {
    const ssize_t got = ::pread(fd, to, static_cast<std::size_t>(count), begin);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;  // the file is shorter than its size says
    if (got <= 0) return false;
    to += got;
    begin += got;
    count -= got;
  }
  return true;
}

}  // namespace

std::optional<off_t> end_of_whole_lines(int fd, off_t size, off_t longest_line) {
  const off_t least = size - std::min(size, longest_line);
  char buffer[4096];
  while (size > 0) {
    if (size < least) {
      errno = EFBIG;
      return std::nullopt;
    }
    const off_t start = std::max<off_t>(0, size - static_cast<off_t>(sizeof buffer));
    if (!read_fully(fd, buffer, size - start, start)) return std::nullopt;
    for (off_t i = size - start; i-- > 0;)
      if (buffer[i] == '\n') return start + i + 1;
    size = start;
  }
  return 0;
}

std::optional<std::string> last_whole_line(int fd, const std::filesystem::path& path,
                                           off_t longest_line) {
  const auto fail = [&]() -> std::optional<std::string> {
    throw Error(cat("cannot read the end of ", path.string(), ": ",
                    errno == EFBIG ? cat("its last line has more than ",
                                         format_bytes(static_cast<double>(longest_line)))
                                   : errno_text(errno)),
                errno == EFBIG ? "the file is damaged, or another one lies in its place"
                               : errno_hint(errno));
  };
  struct stat info {};
  if (::fstat(fd, &info) != 0) return fail();
  const auto end = end_of_whole_lines(fd, info.st_size, longest_line);
  if (!end) return fail();
  if (*end == 0) return std::nullopt;
  const auto begin = end_of_whole_lines(fd, *end - 1, longest_line);
  if (!begin) return fail();
  std::string line(static_cast<std::size_t>(*end - 1 - *begin), '\0');
  if (!read_fully(fd, line.data(), *end - 1 - *begin, *begin)) return fail();
  return line;
}

}  // namespace lockstep
