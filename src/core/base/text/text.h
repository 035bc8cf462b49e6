// Small text functions for messages.
#pragma once

#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text/printable.h"  // for all that makes messages

namespace lockstep {

// Joins the parts into one text: cat("step ", 3) == "step 3".
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}
std::string fixed(double value, int digits);       // "3.214"
std::string scientific(double value, int digits);  // "5.9e-04"
std::string general(double value, int digits);     // like printf's %.*g

// Returns the candidate with the smallest edit distance to the word; case is ignored. Empty if the
// word is unlikely to be a misspelling of any candidate. A word that equals the last part of a
// dotted candidate always counts as a misspelling of it.
std::string nearest(std::string_view word, std::span<const std::string> candidates);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);
// The UTF-8 byte order mark, which some programs write at the start of a text file.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
// Returns the text without byte order marks at its beginning. There may be several, because some
// programs add a mark to a text that already has one.
std::string_view without_byte_order_mark(std::string_view text);
// Returns the lines of a text file. Byte order marks at its beginning and carriage returns at line
// ends are removed. The text after the last newline is also a line, even if it is empty.
std::vector<std::string> lines_of(std::string_view text);
std::string trim(std::string_view text);
std::string shell_word(const std::string& text);  // returns the text, quoted if a shell requires it
std::string format_bytes(double bytes);           // "1.5 GiB"
std::string format_count(double count);           // "1.02M"
std::string errno_text(int error);                // like strerror, but thread-safe

}  // namespace lockstep
