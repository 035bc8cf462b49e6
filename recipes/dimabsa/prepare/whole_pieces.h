// Pieces that include marks which tokenizers drop.
#pragma once

#include <string>
#include <vector>

#include "recipes/dimabsa/tokens/tokenizer.h"

namespace lockstep::dimabsa {

// The pieces of a text. Each is extended by the accents, variation selectors and joiners that
// follow it and are in no piece. So a phrase is whole if it is cut out of the text by its pieces.
std::vector<Piece> whole_pieces(const Tokenizer& tokenizer, const std::string& text);

}  // namespace lockstep::dimabsa
