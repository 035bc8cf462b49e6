// UTF-8: reads code points, repairs invalid text, and handles streams.
#include "core/base/text/utf8.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lockstep {
namespace {

// The number of bytes after a leading byte, and the bounds of the first of them (Unicode 15, table
// 3-7).
struct Lead {
  int following = -1;
  unsigned char low = 0x80, high = 0xBF;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {0};
  if (byte >= 0xC2 && byte <= 0xDF) return {1};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {2};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  if (byte >= 0xF1 && byte <= 0xF3) return {3};
  return {};
}

// The length of the ASCII characters at the start, counted eight bytes at a time.
std::size_t ascii_prefix(std::string_view text) {
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) ++i;
  return i;
}

// The number of bytes at the end that may become a whole character.
std::size_t unfinished_suffix(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    if (lead_of(byte).following < static_cast<int>(back)) return 0;
    return next_code_point(text.substr(text.size() - back)).length == back ? back : 0;
  }
  return 0;
}

}  // namespace

CodePoint next_code_point(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const Lead lead = lead_of(first);
  if (lead.following == 0) return {first, 1, true};
  if (lead.following < 0) return {replacement_character, 1, false};
  char32_t value = first & (0x3F >> lead.following);
  for (int i = 1; i <= lead.following; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto byte = at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
    const bool fits = i == 1 ? byte >= lead.low && byte <= lead.high : (byte & 0xC0) == 0x80;
    if (!fits) return {replacement_character, at, false};
    value = (value << 6) | (byte & 0x3F);
  }
  return {value, static_cast<std::size_t>(lead.following) + 1, true};
}

void append_utf8(std::string& text, char32_t c) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | (c >> 6));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

std::size_t invalid_bytes(std::string_view text) {
  std::size_t invalid = 0;
  while (true) {
    text.remove_prefix(ascii_prefix(text));
    if (text.empty()) return invalid;
    const CodePoint point = next_code_point(text);
    if (!point.valid) invalid += point.length;
    text.remove_prefix(point.length);
  }
}

std::string_view first_bytes(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

std::string mend_utf8(std::string_view text) {
  std::string mended;
  mended.reserve(text.size());
  while (!text.empty()) {
    const std::size_t ascii = ascii_prefix(text);
    mended += text.substr(0, ascii);
    text.remove_prefix(ascii);
    if (text.empty()) break;
    const CodePoint point = next_code_point(text);
    append_utf8(mended, point.value);
    text.remove_prefix(point.length);
  }
  return mended;
}

std::string Utf8Stream::push(std::string_view bytes) {
  rest_ += bytes;
  const std::size_t whole = rest_.size() - unfinished_suffix(rest_);
  std::string text = mend_utf8(std::string_view(rest_).substr(0, whole));
  rest_.erase(0, whole);
  return text;
}

std::string Utf8Stream::finish() { return mend_utf8(std::exchange(rest_, {})); }

}  // namespace lockstep
