// Finds the case and class of characters in utf8proc's tables.
#include "recipes/dimabsa/sentences/letters.h"

#include <utf8proc.h>

#include "core/base/text/utf8.h"

namespace lockstep::dimabsa {

std::string lower_case(std::string_view text) {
  constexpr char32_t dotted_capital_i = 0x130;
  std::string lower;
  lower.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = next_code_point(text);
    if (!point.valid)
      lower.append(text.substr(0, point.length));
    else if (point.value == dotted_capital_i)
      lower += "i\xCC\x87";
    else
      append_utf8(lower, lower_case(point.value));
    text.remove_prefix(point.length);
  }
  return lower;
}

char32_t lower_case(char32_t character) {
  if (character < 0x80)
    return character >= 'A' && character <= 'Z' ? character - 'A' + 'a' : character;
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(character)));
}

bool joins_words(char32_t character) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(character))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
      return true;
    default:
      return false;
  }
}

}  // namespace lockstep::dimabsa
