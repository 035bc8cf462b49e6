// Counts the tokens of sentences, for the estimates of memory and FLOPs. A sentence has a row for
// each kind of question (Pass), and a row has a text for each question.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {

// Returns an object with these numbers:
//   per_row         mean number of tokens per row
//   per_sentence    mean number of tokens per sentence
//   most            largest number of tokens of a sentence
//   squares         sum of the squared lengths of a sentence's texts, as a mean over sentences
//   texts_per_row   mean number of texts per row
//   most_texts      largest number of texts of a sentence
//   longest         largest number of tokens of a text
nlohmann::json count_tokens(const std::vector<EncodedSentence>& sentences,
                            const EncodedQueries& queries, Task task);

}  // namespace lockstep::dimabsa
