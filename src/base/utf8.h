// UTF-8: reading code points, mending what is not valid, and streaming.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep {

inline constexpr char32_t replacement_character = 0xFFFD;

// A code point and its length in bytes. Where the bytes are not valid UTF-8: `valid` is false, and
// `length` is that of the longest faulty prefix, as Unicode advises for U+FFFD (at least 1).
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;
  bool valid = true;
};

// The first code point of a text that is not empty.
CodePoint next_code_point(std::string_view text);
void append_utf8(std::string& text, char32_t code_point);
// Bytes of `text` that are no valid UTF-8.
std::size_t invalid_bytes(std::string_view text);
// The longest beginning of at most so many bytes that ends with a whole character.
std::string_view first_bytes(std::string_view text, std::size_t most);
// The same text with each faulty part as U+FFFD.
std::string mend_utf8(std::string_view text);

// Puts bytes that come in pieces together again, so that only whole characters go out.
class Utf8Stream {
 public:
  // The whole characters now complete; faulty bytes become U+FFFD.
  std::string push(std::string_view bytes);
  std::string finish();  // what is left, mended

 private:
  std::string rest_;
};

}  // namespace lockstep
