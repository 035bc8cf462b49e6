// Pieces with the marks that tokenizers drop.
#pragma once

#include <string>
#include <vector>

#include "recipes/dimabsa/tokens/tokenizer.h"

namespace lockstep::dimabsa {

// The pieces of a text. Each ends behind the accents, variation selectors and joiners that follow
// it and are in no piece. So a phrase that is cut out of the text by its pieces is whole.
std::vector<Piece> whole_pieces(const Tokenizer& tokenizer, const std::string& text);

}  // namespace lockstep::dimabsa
