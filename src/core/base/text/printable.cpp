#include "core/base/text/printable.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "core/base/text/utf8.h"

namespace lockstep {
namespace {

constexpr bool is_between(char32_t c, char32_t first, char32_t last) {
  return c >= first && c <= last;
}

bool is_control(char32_t c) { return c < 0x20 || c == 0x7f; }

// Hidden characters of Unicode: C1 controls, line and paragraph separators, and the Arabic letter
// mark. Also the marks, embeddings, overrides and isolates of text direction (UAX #9).
bool is_hidden(char32_t c) {
  return is_between(c, 0x80, 0x9f) || c == 0x61c || is_between(c, 0x200e, 0x200f) ||
         is_between(c, 0x2028, 0x202e) || is_between(c, 0x2066, 0x2069);
}

std::string hexadecimal(const char* format, char32_t value) {
  char text[8];
  std::snprintf(text, sizeof text, format, static_cast<unsigned>(value));
  return text;
}

std::string byte_escape(char32_t byte) { return hexadecimal("\\x%02x", byte); }
std::string code_escape(char32_t c) { return hexadecimal("\\u%04x", c); }

std::string control_escape(char32_t c) {
  if (c == U'\n') return "\\n";
  if (c == U'\t') return "\\t";
  return c == U'\r' ? "\\r" : byte_escape(c);
}

bool is_kept(char32_t c, std::string_view kept) {
  return kept.find(static_cast<char>(c)) != kept.npos;
}

std::size_t plain_prefix(std::string_view text) {
  const auto end = std::find_if(text.begin(), text.end(), [](char c) {
    return is_control(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80;
  });
  return static_cast<std::size_t>(end - text.begin());
}

// The length of "ESC [ digits m" at the beginning of the text. 0 if the text begins differently.
std::size_t colour_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;:", 2);
  return end != text.npos && text[end] == 'm' ? end + 1 : 0;
}

std::string escaped(std::string_view text, std::string_view kept, bool keeps_colours) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    std::size_t length = plain_prefix(text);
    if (length == 0 && keeps_colours) length = colour_length(text);
    if (length > 0) {
      result += text.substr(0, length);
      text.remove_prefix(length);
      continue;
    }
    const CodePoint point = next_code_point(text);
    const std::string_view bytes = text.substr(0, point.length);
    text.remove_prefix(point.length);
    if (!point.valid) {
      for (const char byte : bytes) result += byte_escape(static_cast<unsigned char>(byte));
    } else if (is_control(point.value) && !is_kept(point.value, kept)) {
      result += control_escape(point.value);
    } else if (is_hidden(point.value)) {
      result += code_escape(point.value);
    } else {
      result += bytes;
    }
  }
  return result;
}

}  // namespace

std::string printable(std::string text, std::string_view kept) {
  return plain_prefix(text) == text.size() ? text : escaped(text, kept, false);
}

std::string printable_log(std::string_view text) {
  std::string shown = escaped(text, "\n\t", true);
  if (shown.find('\x1b') != shown.npos) shown += "\x1b[0m";
  return shown;
}

std::string printable_json(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  while (!json.empty()) {
    const CodePoint point = next_code_point(json);
    if (point.valid && (point.value == 0x7f || is_hidden(point.value)))
      text += code_escape(point.value);
    else
      text += json.substr(0, point.length);
    json.remove_prefix(point.length);
  }
  return text;
}

int escape_length(char32_t c) {
  if (is_control(c)) return static_cast<int>(control_escape(c).size());
  return is_hidden(c) ? 6 : 0;
}

}  // namespace lockstep
