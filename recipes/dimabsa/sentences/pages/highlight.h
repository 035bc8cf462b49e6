// A text cut at the borders of its phrases, for whatever marks them.
#pragma once

#include <string_view>
#include <vector>

#include "recipes/dimabsa/sentences/phrase.h"
#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// Which tuples, by their places, have a phrase here.
struct MarkedPart {
  ByteRange range;
  std::vector<std::size_t> aspects, opinions;
};

// Parts follow each other and together are the whole text; those that are of no phrase have no
// tuples. Phrases that are NULL or not in the text mark nothing.
std::vector<MarkedPart> marked_parts(std::string_view text, const std::vector<Tuple>& tuples);

}  // namespace lockstep::dimabsa
