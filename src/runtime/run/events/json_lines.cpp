// Appends lines of JSON to a file and reads them.
#include "runtime/run/events/json_lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/base/errno_hint.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "runtime/run/events/last_line.h"

namespace lockstep {
namespace {

[[noreturn]] void fail(const char* action, const std::filesystem::path& path) {
  const int error = errno;
  throw Error(cat("cannot ", action, " ", path.string(), ": ", errno_text(error)),
              errno_hint(error));
}

std::optional<off_t> file_size(int fd) {
  struct stat info = {};
  return fstat(fd, &info) == 0 ? std::optional(info.st_size) : std::nullopt;
}

// Removes a last line that has no newline. If the file's size or end is unknown, throws Error and
// does not change the file.
void cut_torn_line(int fd, const std::filesystem::path& path) {
  const std::optional<off_t> size = file_size(fd);
  if (!size) fail("look at", path);
  constexpr off_t longest_line = 256 << 20;
  const std::optional<off_t> whole = end_of_whole_lines(fd, *size, longest_line);
  if (!whole) fail("read the end of", path);
  if (*whole != *size && ftruncate(fd, *whole) != 0) fail("repair the end of", path);
}

}  // namespace

UniqueFd open_lines(const std::filesystem::path& path) {
  // Without O_NONBLOCK, open() could wait forever if the path is a pipe.
  UniqueFd fd(
      open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
  if (!fd && errno == ELOOP)  // the error of O_NOFOLLOW
    throw Error(cat("cannot write ", path.string(), ": it must be a regular file, but is a link"),
                "put the file itself in its place");
  if (!fd) fail("write", path);
  struct stat info = {};
  if (fstat(fd.get(), &info) != 0) fail("look at", path);
  if (!S_ISREG(info.st_mode))
    throw Error(cat("cannot write ", path.string(), ": it must be a regular file, but is not"),
                "put the file itself in its place");
  cut_torn_line(fd.get(), path);
  return fd;
}

bool append_line(int fd, std::string_view line) {
  std::string text(line);
  text += '\n';
  const std::optional<off_t> before = file_size(fd);
  std::size_t written = 0;
  ssize_t got = 0;
  // Tries again after a partial write, because only the next call gives the reason.
  while (written < text.size()) {
    got = write(fd, text.data() + written, text.size() - written);
    if (got > 0) written += static_cast<std::size_t>(got);
    if (got == 0 || (got < 0 && errno != EINTR)) break;
  }
  if (written == text.size()) return true;
  const int reason = got < 0 ? errno : ENOSPC;
  if (written > 0) {
    // A partial line would damage the next one. Only the bytes just written are removed.
    const std::optional<off_t> after = file_size(fd);
    const bool known = before && after && *after == *before + static_cast<off_t>(written);
    if (!known || ftruncate(fd, *before) != 0) {
      const ssize_t ended = write(fd, "\n", 1);
      (void)ended;
    }
  }
  errno = reason;
  return false;
}

std::string to_line(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void for_each_line(const std::filesystem::path& path,
                   const std::function<void(const std::string&)>& visit, std::uint64_t most_bytes) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return;
  const UniqueFd fd = open_regular_file(path);
  std::string line;
  std::int64_t number = 1;
  const auto extend = [&](std::string_view text) {
    if (line.size() + text.size() > most_bytes)
      throw Error(cat("cannot read ", path.string(), ": line ", number, " has more than ",
                      format_bytes(static_cast<double>(most_bytes))),
                  "the file is damaged, or another one lies in its place");
    line += text;
  };
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path);
    if (got == 0) return;
    std::string_view text(buffer, static_cast<std::size_t>(got));
    for (std::size_t newline; (newline = text.find('\n')) != text.npos;) {
      extend(text.substr(0, newline));
      text.remove_prefix(newline + 1);
      visit(line);
      line.clear();
      ++number;
    }
    extend(text);
  }
}

bool is_step_line(std::string_view line) { return line.find("\"kind\":\"step\"") != line.npos; }

double quick_number(std::string_view line, std::string_view key) {
  const std::string mark = cat("\"", key, "\":");
  const std::size_t at = line.find(mark);
  double value = NAN;
  if (at != line.npos)
    std::from_chars(line.data() + at + mark.size(), line.data() + line.size(), value);
  return value;
}

nlohmann::json parse_object(std::string_view line) {
  nlohmann::json value = parse_json(line);
  if (!value.is_object()) return nlohmann::json(nlohmann::json::value_t::discarded);
  return value;
}

double number_or(const nlohmann::json& object, const char* key, double otherwise) {
  if (!object.is_object()) return otherwise;
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

std::int64_t integer_or(const nlohmann::json& object, const char* key, std::int64_t otherwise) {
  if (!object.is_object()) return otherwise;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return otherwise;
  // A number beyond 2^53 is damage, and sums of such numbers would overflow.
  const double value = found->get<double>();
  if (!(std::fabs(value) <= 0x1p53)) return otherwise;
  return found->is_number_integer() ? found->get<std::int64_t>() : static_cast<std::int64_t>(value);
}

bool is_true(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return false;
  const auto found = object.find(key);
  return found != object.end() && *found == true;
}

std::string text_or(const nlohmann::json& object, const char* key, const std::string& otherwise) {
  if (!object.is_object()) return otherwise;
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

}  // namespace lockstep
