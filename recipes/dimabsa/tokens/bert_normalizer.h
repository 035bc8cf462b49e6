// Normalizes text as BERT's tokenizer does before it cuts it into pieces.
#pragma once

#include <vector>

#include "recipes/dimabsa/tokens/characters.h"

namespace lockstep::dimabsa {

// Applied in this order, as in the BertNormalizer of `tokenizers`.
struct BertNormalizer {
  bool clean_text = true;          // drop control characters, make every white character a space
  bool chinese_characters = true;  // put spaces around each
  bool strip_accents = true;       // decompose (NFD), drop marks
  bool lower_case = true;

  Characters operator()(Characters text) const;
};

// A part [begin, end) of a text.
struct Span {
  std::size_t begin = 0, end = 0;
};
Characters characters_within(const Characters& text, Span span);
// The words between white characters. Each punctuation character is a word of its own.
std::vector<Span> bert_words(const Characters& text);

}  // namespace lockstep::dimabsa
