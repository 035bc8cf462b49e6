// Pieces with the marks that tokenizers drop.
#pragma once

#include <string>
#include <vector>

#include "recipes/dimabsa/tokens/tokenizer.h"

namespace lockstep::dimabsa {

// The pieces of a text; each ends behind the accents, variation selectors and joiners that follow
// it and are in no piece, so that what is cut out of the text by them is whole.
std::vector<Piece> whole_pieces(const Tokenizer& tokenizer, const std::string& text);

}  // namespace lockstep::dimabsa
