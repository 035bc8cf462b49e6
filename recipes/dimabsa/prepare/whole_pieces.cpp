#include "recipes/dimabsa/prepare/whole_pieces.h"

#include <string_view>

#include "recipes/dimabsa/tokens/characters.h"

namespace lockstep::dimabsa {
namespace {

bool belongs_to_the_one_before(char32_t character) {
  constexpr char32_t zero_width_joiner = 0x200D;
  return is_mark(character) || character == zero_width_joiner;
}

// Skips accents, variation selectors and joiners from `end` on, up to `limit`. Returns the byte
// after them.
std::uint32_t behind_marks(const std::string& text, std::uint32_t end, std::size_t limit) {
  if (limit <= end) return end;
  std::uint32_t behind = end;
  for (const Character& character :
       characters_of(std::string_view(text).substr(end, limit - end))) {
    if (!belongs_to_the_one_before(character.value)) break;
    behind = end + character.end;
  }
  return behind;
}

}  // namespace

std::vector<Piece> whole_pieces(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<Piece> pieces = tokenizer.encode(text);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    pieces[i].end = behind_marks(text, pieces[i].end,
                                 i + 1 < pieces.size() ? pieces[i + 1].begin : text.size());
  return pieces;
}

}  // namespace lockstep::dimabsa
