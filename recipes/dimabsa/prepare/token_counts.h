// How many tokens a sentence has, for formulas of memory and FLOPs.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {

// {"per_row", "per_sentence", "most", "squares"}: means, the largest sentence, and the mean sum
// over a sentence's texts of their length squared.
nlohmann::json count_tokens(const std::vector<EncodedSentence>& sentences,
                            const EncodedQueries& queries, Task task);

}  // namespace lockstep::dimabsa
