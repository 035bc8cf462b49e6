#include "runtime/launch/output/log_tail.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <vector>

#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "runtime/launch/ranks/rank_screen.h"

namespace lockstep {
namespace {

constexpr std::size_t kept_bytes = std::size_t{256} * 1024;
constexpr std::size_t most_in_a_line = 1000;

std::string as_visible(std::string_view whole) {
  std::string line = plain_line(whole);
  if (line.size() > most_in_a_line) {
    line = first_bytes(line, most_in_a_line);
    line += " …";
  }
  return line;
}

}  // namespace

std::string_view as_rewritten(std::string_view line) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const std::size_t rewritten = line.rfind('\r');
  return rewritten == line.npos ? line : line.substr(rewritten + 1);
}

std::string last_lines_of_file(const std::filesystem::path& path, int lines, std::size_t bytes) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg();
  const std::streamoff from =
      std::max<std::streamoff>(0, size - static_cast<std::streamoff>(bytes));
  std::string text(static_cast<std::size_t>(size - from), '\0');
  file.seekg(from);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  return last_lines(text, lines);
}

std::string last_lines_of_file(const UniqueFd& file, int lines, std::size_t bytes) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return {};
  const off_t from = std::max<off_t>(0, info.st_size - static_cast<off_t>(bytes));
  std::string text(static_cast<std::size_t>(info.st_size - from), '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), from);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return last_lines(text, lines);
}

void LogTail::add(std::string_view bytes) {
  text_.append(bytes);
  if (text_.size() > 2 * kept_bytes) text_.erase(0, text_.size() - kept_bytes);
}

std::string last_lines(std::string_view text, int lines) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  std::vector<std::string> kept;
  while (static_cast<int>(kept.size()) < lines && !text.empty()) {
    const std::size_t newline = text.rfind('\n');
    const std::size_t start = newline == text.npos ? 0 : newline + 1;
    kept.push_back(as_visible(text.substr(start)));
    text = text.substr(0, newline == text.npos ? 0 : newline);
  }
  std::reverse(kept.begin(), kept.end());
  return join(kept, "\n");
}

}  // namespace lockstep
