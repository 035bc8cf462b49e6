// Extends word pieces by the combining marks that tokenizers drop.
#pragma once

#include <string>
#include <vector>

#include "recipes/dimabsa/tokens/tokenizer.h"

namespace lockstep::dimabsa {

// Returns the pieces of a text. Each piece is extended by the accents, variation selectors and
// joiners that follow it, if no other piece contains them. So the text from the first to the last
// piece of a phrase is the whole phrase.
std::vector<Piece> whole_pieces(const Tokenizer& tokenizer, const std::string& text);

}  // namespace lockstep::dimabsa
