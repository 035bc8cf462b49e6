// Text as BERT's tokenizer sees it, before it is cut into pieces.
#pragma once

#include <vector>

#include "recipes/dimabsa/tokens/characters.h"

namespace lockstep::dimabsa {

// In this order, as the BertNormalizer of `tokenizers`.
struct BertNormalizer {
  bool clean_text = true;          // drop control characters, every white character is a space
  bool chinese_characters = true;  // spaces around each
  bool strip_accents = true;       // decompose (NFD), drop marks
  bool lower_case = true;

  Characters operator()(Characters text) const;
};

// A part [begin, end) of a text.
struct Span {
  std::size_t begin = 0, end = 0;
};
Characters characters_within(const Characters& text, Span span);
// Words between white characters; a punctuation character is a word of its own.
std::vector<Span> bert_words(const Characters& text);

}  // namespace lockstep::dimabsa
