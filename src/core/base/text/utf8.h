// UTF-8: reads code points, repairs invalid text, and joins text that arrives in chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep {

inline constexpr char32_t replacement_character = 0xFFFD;

// A code point and its length in bytes. If the bytes are not valid UTF-8, `valid` is false.
// `length` is then the number of bytes to replace with one U+FFFD, as Unicode recommends; at least
// 1.
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;
  bool valid = true;
};

// Returns the first code point of a text. The text must not be empty.
CodePoint next_code_point(std::string_view text);
void append_utf8(std::string& text, char32_t code_point);
// Returns the number of bytes of `text` that are not valid UTF-8.
std::size_t invalid_bytes(std::string_view text);
// Returns the longest prefix of at most `most` bytes that does not cut a character.
std::string_view first_bytes(std::string_view text, std::size_t most);
// Returns the text with invalid bytes replaced by U+FFFD.
std::string mend_utf8(std::string_view text);

// Decodes text that arrives in chunks, and returns only whole characters.
class Utf8Stream {
 public:
  // Adds a chunk, and returns the characters that are now complete. Invalid bytes become U+FFFD.
  std::string push(std::string_view bytes);
  std::string finish();  // returns the remaining bytes, with invalid ones replaced

 private:
  std::string rest_;
};

}  // namespace lockstep
