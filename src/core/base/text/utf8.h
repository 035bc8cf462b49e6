// UTF-8: reads code points, repairs invalid text, and joins text that comes in chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep {

inline constexpr char32_t replacement_character = 0xFFFD;

// A code point and its length in bytes. If the bytes are not valid UTF-8, `valid` is false.
// `length` is then that of the longest faulty prefix, as Unicode advises for U+FFFD (at least 1).
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;
  bool valid = true;
};

// The first code point of a text that is not empty.
CodePoint next_code_point(std::string_view text);
void append_utf8(std::string& text, char32_t code_point);
// The number of bytes of `text` that are not valid UTF-8.
std::size_t invalid_bytes(std::string_view text);
// The longest beginning of at most `most` bytes that ends with a whole character.
std::string_view first_bytes(std::string_view text, std::size_t most);
// The text with each faulty part replaced by U+FFFD.
std::string mend_utf8(std::string_view text);

// Joins bytes that come in chunks, so that only whole characters are passed on.
class Utf8Stream {
 public:
  // Returns the characters that are now complete; faulty bytes become U+FFFD.
  std::string push(std::string_view bytes);
  std::string finish();  // the rest, repaired

 private:
  std::string rest_;
};

}  // namespace lockstep
