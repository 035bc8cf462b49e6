// How many tokens a sentence has, for formulas of memory and FLOPs.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {

// {"per_row", "per_sentence", "most", "squares", "texts_per_row", "most_texts", "longest"}: the
// mean tokens per row and per sentence, the most tokens of a sentence, and the mean over sentences
// of the sum of squared lengths of a sentence's texts. Then the mean texts per row, the most texts
// of a sentence, and the most tokens of a text.
nlohmann::json count_tokens(const std::vector<EncodedSentence>& sentences,
                            const EncodedQueries& queries, Task task);

}  // namespace lockstep::dimabsa
