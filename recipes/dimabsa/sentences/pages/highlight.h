// Cuts a text at the borders of its phrases, so that the phrases can be highlighted.
#pragma once

#include <string_view>
#include <vector>

#include "recipes/dimabsa/sentences/phrase.h"
#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// A part of a text. aspects, opinions: indexes of the tuples whose aspect or opinion covers this
// part.
struct MarkedPart {
  ByteRange range;
  std::vector<std::size_t> aspects, opinions;
};

// Returns the parts of a text in order. Together, the parts are the whole text. For a part outside
// all phrases, both lists are empty. Phrases that are NULL or not in the text are ignored.
std::vector<MarkedPart> marked_parts(std::string_view text, const std::vector<Tuple>& tuples);

}  // namespace lockstep::dimabsa
