// Appends and reads lines of JSON.
#include "run/lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace lockstep {
namespace {

// Offset just after the last newline of the first `size` bytes.
off_t end_of_whole_lines(int fd, off_t size) {
  char buffer[4096];
  while (size > 0) {
    const off_t start = std::max<off_t>(0, size - static_cast<off_t>(sizeof buffer));
    const ssize_t got = pread(fd, buffer, static_cast<std::size_t>(size - start), start);
    if (got <= 0) return size;
    for (ssize_t i = got; i-- > 0;)
      if (buffer[i] == '\n') return start + i + 1;
    size = start;
  }
  return 0;
}

off_t file_size(int fd) {
  struct stat info = {};
  return fstat(fd, &info) == 0 ? info.st_size : -1;
}

}  // namespace

UniqueFd open_lines(const std::filesystem::path& path) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!fd) throw Error(cat("cannot write ", path.string(), ": ", errno_text(errno)));
  const off_t size = file_size(fd.get());
  const off_t whole = end_of_whole_lines(fd.get(), size);
  if (whole != size && ftruncate(fd.get(), whole) != 0)
    throw Error(cat("cannot repair the end of ", path.string(), ": ", errno_text(errno)));
  return fd;
}

bool append_line(int fd, std::string_view line) {
  const off_t before = file_size(fd);
  std::string text(line);
  text += '\n';
  ssize_t written;
  do {
    written = write(fd, text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(text.size())) return true;
  const int reason = written < 0 ? errno : ENOSPC;
  // A part of a line would spoil the next one.
  if (written > 0 && (before < 0 || ftruncate(fd, before) != 0)) {
    const ssize_t ended = write(fd, "\n", 1);
    (void)ended;
  }
  errno = reason;
  return false;
}

std::string to_line(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void for_each_line(const std::filesystem::path& path,
                   const std::function<void(const std::string&)>& visit) {
  std::error_code error;
  if (std::filesystem::is_fifo(path, error))  // reading would wait for a writer
    throw Error(cat("cannot read ", path.string(), ": it is a pipe"));
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (!std::filesystem::exists(path, error) && !error) return;
    throw Error(cat("cannot read ", path.string(), ": ", errno_text(errno)));
  }
  std::string line;
  while (std::getline(file, line) && !file.eof()) visit(line);
  if (file.bad()) throw Error(cat("cannot read ", path.string(), " to its end"));
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
  // Beyond 2^53 is damage, and sums of such numbers would overflow.
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
