// Cuts a text at the borders of its phrases, for programs that mark them.
#pragma once

#include <string_view>
#include <vector>

#include "recipes/dimabsa/sentences/phrase.h"
#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// A part of the text, and the tuples (by place) that have a phrase there.
struct MarkedPart {
  ByteRange range;
  std::vector<std::size_t> aspects, opinions;
};

// The parts follow each other and together are the whole text. A part outside all phrases has no
// tuples. Phrases that are NULL or not in the text mark nothing.
std::vector<MarkedPart> marked_parts(std::string_view text, const std::vector<Tuple>& tuples);

}  // namespace lockstep::dimabsa
