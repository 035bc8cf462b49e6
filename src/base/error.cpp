// Cuts what is too long in messages.
#include "base/error.h"

#include <cstddef>

namespace lockstep {
namespace {

// Characters. A path may be longer than any other word, and is of use only whole.
constexpr std::size_t most_of_a_word = 200, most_of_a_path = 1024, most_of_a_line = 2000;
constexpr std::size_t kept_end = 5;  // this part of them is the end, the rest the beginning
constexpr std::size_t most_of_a_character = 4;  // bytes

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// The end of the character at `at`; one byte where it is none.
std::size_t next(std::string_view text, std::size_t at) {
  std::size_t bytes = 1;
  while (bytes < most_of_a_character && at + bytes < text.size() &&
         is_continuation(text[at + bytes]))
    ++bytes;
  return at + bytes;
}

std::size_t before(std::string_view text, std::size_t at) {
  std::size_t bytes = 1;
  while (bytes < most_of_a_character && bytes < at && is_continuation(text[at - bytes])) ++bytes;
  return at - bytes;
}

// The text, or `most` of its characters.
void append_cut(std::string& to, std::string_view text, std::size_t most) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size() && count <= most; at = next(text, at)) ++count;
  if (count <= most) {
    to += text;
    return;
  }
  std::size_t head = 0, tail = text.size();
  for (std::size_t i = 0; i + 1 < most - most / kept_end; ++i) head = next(text, head);
  for (std::size_t i = 0; i < most / kept_end; ++i) tail = before(text, tail);
  to += text.substr(0, head);
  to += "…";
  to += text.substr(tail);
}

// Each part between such separators by itself.
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
