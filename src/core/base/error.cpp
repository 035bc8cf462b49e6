// Shortens long words and lines in messages.
#include "core/base/error.h"

#include <cstddef>

#include "core/base/text/utf8.h"

namespace lockstep {
namespace {

// Limits in characters. A path has a higher limit, because it is only useful as a whole.
constexpr std::size_t most_of_a_word = 200, most_of_a_path = 1024, most_of_a_line = 2000;
// 1 / kept_end of the limit is kept from the end, the rest from the beginning.
constexpr std::size_t kept_end = 5;

// The text without its first `characters` characters.
std::string_view without(std::string_view text, std::size_t characters) {
  for (; characters > 0 && !text.empty(); --characters)
    text.remove_prefix(next_code_point(text).length);
  return text;
}

// Appends the text, shortened to at most `most` characters.
void append_cut(std::string& to, std::string_view text, std::size_t most) {
  std::size_t count = 0;
  for (std::string_view rest = text; !rest.empty(); rest = without(rest, 1)) ++count;
  if (count <= most) {
    to += text;
    return;
  }
  const std::size_t tail = most / kept_end, head = most - tail - 1;
  to += text.substr(0, text.size() - without(text, head).size());
  to += "…";
  to += without(text, count - tail);
}

// Shortens each part between separators.
std::string cut_parts(std::string_view text, std::string_view separators, std::size_t most) {
  std::string result;
  for (;;) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    const std::string_view part = text.substr(0, end);
    const bool is_path = most == most_of_a_word && part.find('/') != part.npos;
    append_cut(result, part, is_path ? most_of_a_path : most);
    if (end == text.size()) return result;
    result += text[end];
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string shortened(std::string_view message) {
  if (message.size() <= most_of_a_word) return std::string(message);
  return cut_parts(cut_parts(message, " \t\r\n", most_of_a_word), "\n", most_of_a_line);
}

}  // namespace lockstep
