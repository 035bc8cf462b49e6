// Normalizes text as BERT's tokenizer does, before it is cut into words and word pieces.
#pragma once

#include <vector>

#include "recipes/dimabsa/tokens/characters.h"

namespace lockstep::dimabsa {

// The rules of the normalizer. They are applied in the order of the members, as in the
// BertNormalizer of `tokenizers`.
struct BertNormalizer {
  // remove control characters and U+FFFD; turn each whitespace character into a space
  bool clean_text = true;
  bool chinese_characters = true;  // put a space before and after each ideograph
  bool strip_accents = true;       // decompose (NFD), then remove combining marks
  bool lower_case = true;

  Characters operator()(Characters text) const;
};

// Characters [begin, end) of a text.
struct Span {
  std::size_t begin = 0, end = 0;
};
Characters characters_within(const Characters& text, Span span);
// Returns the words that whitespace separates. Each punctuation character is a word of its own.
std::vector<Span> bert_words(const Characters& text);

}  // namespace lockstep::dimabsa
