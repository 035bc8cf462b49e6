// How many tokens a sentence has, for formulas of memory and FLOPs.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {

// {"per_row", "per_sentence", "most", "squares", "texts_per_row", "most_texts", "longest"}: tokens
// as means and of the largest sentence, and the mean sum over a sentence's texts of their length
// squared. Then texts, as a mean and of the sentence with most, and the tokens of the longest text.
nlohmann::json count_tokens(const std::vector<EncodedSentence>& sentences,
                            const EncodedQueries& queries, Task task);

}  // namespace lockstep::dimabsa
