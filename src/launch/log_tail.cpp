#include "launch/log_tail.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "base/text.h"

namespace lockstep {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{256} * 1024;
constexpr std::size_t most_in_a_line = 1000;

std::string as_visible(std::string line) {
  while (!line.empty() && line.back() == '\r') line.pop_back();
  if (const std::size_t rewritten = line.rfind('\r'); rewritten != line.npos) {
    line.erase(0, rewritten + 1);
  }
  if (line.size() > most_in_a_line) {
    line.resize(most_in_a_line);
    line += " …";
  }
  return line;
}

}  // namespace

std::string log_tail(const std::filesystem::path& path, std::uint64_t from, int lines) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const auto size = static_cast<std::uint64_t>(file.tellg());
  const std::uint64_t begin = std::max(from, size > most_bytes ? size - most_bytes : 0);
  if (begin >= size) return "";
  std::string text(size - begin, '\0');
  file.seekg(static_cast<std::streamoff>(begin));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();

  std::vector<std::string> kept;
  std::size_t end = text.size();
  while (static_cast<int>(kept.size()) < lines && !text.empty()) {
    const std::size_t newline = end == 0 ? text.npos : text.rfind('\n', end - 1);
    const std::size_t start = newline == text.npos ? 0 : newline + 1;
    kept.push_back(as_visible(text.substr(start, end - start)));
    if (newline == text.npos) break;
    end = newline;
  }
  std::reverse(kept.begin(), kept.end());
  return join(kept, "\n");
}

}  // namespace lockstep
