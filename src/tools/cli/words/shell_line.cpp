#include "tools/cli/words/shell_line.h"

#include <algorithm>
#include <utility>

namespace lockstep::cli {
namespace {

constexpr std::string_view space = " \t\n";
constexpr std::string_view escaped_in_double_quotes = "$`\"\\";
constexpr std::string_view plain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";

bool has(std::string_view letters, char c) { return letters.find(c) != letters.npos; }

std::string with_backslashes(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_ascii = static_cast<unsigned char>(c) < 0x80;
    if (is_ascii && !has(plain, c)) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

ShellLine split_line(std::string_view line, std::string_view breaks) {
  ShellLine result;
  std::string word;
  bool is_open = false;  // a word has begun
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool escapes = c == '\\' && result.quote != '\'' && i + 1 < line.size() &&
                         (result.quote == 0 || has(escaped_in_double_quotes, line[i + 1]));
    if (escapes) {
      word += line[++i];
    } else if (result.quote != 0) {
      if (c == result.quote)
        result.quote = 0;
      else
        word += c;
      continue;
    } else if (has(space, c)) {
      if (is_open) result.words.push_back(std::exchange(word, {}));
      result.break_at = 0;
      is_open = false;
      continue;
    } else if (c == '\'' || c == '"') {
      result.quote = c;
    } else {
      word += c;
      if (has(breaks, c)) result.break_at = word.size();
    }
    is_open = true;
  }
  result.words.push_back(word);
  return result;
}

std::optional<std::string> completed_word(const ShellLine& line, std::string_view word) {
  const std::string_view rest = word.substr(std::min(line.break_at, word.size()));
  if (line.quote == 0) return with_backslashes(rest);
  if (line.quote == '\'') {
    if (has(rest, '\'')) return std::nullopt;
    return std::string(rest);
  }
  if (has(rest, '!')) return std::nullopt;  // bash would search its history
  std::string out;
  for (const char c : rest) {
    if (has(escaped_in_double_quotes, c)) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace lockstep::cli
