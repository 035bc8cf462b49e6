// Turns found tuples into the phrases, names and numbers that go into files.
#pragma once

#include <string>
#include <vector>

#include "recipes/dimabsa/model/find_tuples.h"
#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {

// The exact part of the text, or "NULL".
std::string phrase_of(const EncodedSentence& sentence, const PieceSpan& span);

// VA is clamped to 1 to 9 and rounded to two decimals, as in files. If the scorer takes several
// tuples for one, only the most probable is kept. In task 1, aspects are written as they were
// given.
Sentence as_sentence(Task task, const EncodedSentence& sentence,
                     const std::vector<FoundTuple>& found,
                     const std::vector<std::string>& categories);

}  // namespace lockstep::dimabsa
