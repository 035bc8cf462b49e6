// Turns the tuples that a model found into the phrases, categories and numbers of output files.
#pragma once

#include <string>
#include <vector>

#include "recipes/dimabsa/model/find_tuples.h"
#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {

// Returns the part of the text that a span covers. Returns "NULL" if the span is NULL or covers
// only whitespace.
std::string phrase_of(const EncodedSentence& sentence, const PieceSpan& span);

// Returns the sentence with the found tuples. Valence and arousal are clamped to [1, 9] and rounded
// to two decimals. If several tuples have the same key (scores/tuple_key.h), only the most probable
// tuple is kept. In task 1, aspects have the spelling of the input.
Sentence as_sentence(Task task, const EncodedSentence& sentence,
                     const std::vector<FoundTuple>& found,
                     const std::vector<std::string>& categories);

}  // namespace lockstep::dimabsa
