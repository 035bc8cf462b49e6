// Finds phrases in texts.
#include "recipes/dimabsa/sentences/phrase.h"

#include <vector>

#include "core/base/text/utf8.h"
#include "recipes/dimabsa/sentences/letters.h"

namespace lockstep::dimabsa {
namespace {

struct Characters {
  std::vector<char32_t> values, lower;
  std::vector<std::size_t> at;  // the first byte of each character, and the end of the text

  explicit Characters(std::string_view text) {
    std::size_t byte = 0;
    while (byte < text.size()) {
      const CodePoint point = next_code_point(text.substr(byte));
      // A byte that is not UTF-8 equals only itself.
      const char32_t value =
          point.valid ? point.value : 0x110000 + static_cast<unsigned char>(text[byte]);
      const std::size_t length = point.valid ? point.length : 1;
      values.push_back(value);
      lower.push_back(point.valid ? lower_case(value) : value);
      at.push_back(byte);
      byte += length;
    }
    at.push_back(byte);
  }
  bool breaks_at(std::size_t i) const {
    const auto joins = [&](std::size_t k) {
      return values[k] < 0x110000 && joins_words(values[k]);
    };
    return i == 0 || i == values.size() || !joins(i - 1) || !joins(i);
  }
};

// For each prefix of the phrase, the length of its longest proper prefix that is also its suffix
// (Knuth, Morris and Pratt). With this table, one pass over a text is enough.
std::vector<std::size_t> borders_of(const std::vector<char32_t>& phrase) {
  std::vector<std::size_t> borders(phrase.size(), 0);
  for (std::size_t i = 1, same = 0; i < phrase.size(); ++i) {
    while (same > 0 && phrase[i] != phrase[same]) same = borders[same - 1];
    if (phrase[i] == phrase[same]) ++same;
    borders[i] = same;
  }
  return borders;
}

std::optional<ByteRange> find_in(const Characters& text, const std::vector<char32_t>& characters,
                                 const std::vector<char32_t>& phrase) {
  const std::vector<std::size_t> borders = borders_of(phrase);
  std::optional<ByteRange> first;
  for (std::size_t i = 0, same = 0; i < characters.size(); ++i) {
    while (same > 0 && (same == phrase.size() || characters[i] != phrase[same]))
      same = borders[same - 1];
    if (characters[i] == phrase[same]) ++same;
    if (same < phrase.size()) continue;
    const std::size_t begin = i + 1 - same, end = i + 1;
    const ByteRange range{text.at[begin], text.at[end]};
    if (text.breaks_at(begin) && text.breaks_at(end)) return range;
    if (!first) first = range;
  }
  return first;
}

std::string_view without_spaces(std::string_view phrase) {
  constexpr std::string_view spaces = " \t\r\n";
  const std::size_t begin = phrase.find_first_not_of(spaces);
  if (begin == phrase.npos) return {};
  return phrase.substr(begin, phrase.find_last_not_of(spaces) - begin + 1);
}

}  // namespace

std::optional<ByteRange> find_phrase(std::string_view text, std::string_view phrase) {
  phrase = without_spaces(phrase);
  if (phrase.empty()) return std::nullopt;
  const Characters in(text), wanted(phrase);
  if (const auto exact = find_in(in, in.values, wanted.values)) return exact;
  return find_in(in, in.lower, wanted.lower);
}

}  // namespace lockstep::dimabsa
