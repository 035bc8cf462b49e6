// What people must never be shown raw: characters that steer a terminal or turn the direction of
// writing. Written down anew, apart from what `printable` holds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::testing {

// An escape sequence, BEL, DEL, CSI as one character (U+009B), right-to-left override, isolate and
// mark, Arabic letter mark, separators of lines and paragraphs, and a byte that is no UTF-8.
inline const std::string steering =
    "<\x1b[2J\x1b]0;owned\x07\r\x7f\xc2\x9b"
    "31m\xe2\x80\xae\xe2\x81\xa7\xe2\x80\x8f\xd8\x9c\xe2\x80\xa8\xe2\x80\xa9\xff>";
// The same without what file names of JSON and XML cannot hold: all of it is UTF-8.
inline const std::string steering_utf8 = steering.substr(0, steering.size() - 2) + ">";

// Whether one of them is there; newlines and tabs may be.
inline bool has_raw_controls(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f || byte == 0xff) return true;
  }
  const std::vector<std::string_view> marks{
      "\xc2\x9b",     "\xd8\x9c",     "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8",
      "\xe2\x80\xa9", "\xe2\x80\xaa", "\xe2\x80\xab", "\xe2\x80\xac", "\xe2\x80\xad",
      "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa7", "\xe2\x81\xa8", "\xe2\x81\xa9"};
  for (const std::string_view mark : marks)
    if (text.find(mark) != text.npos) return true;
  return false;
}

}  // namespace lockstep::testing
