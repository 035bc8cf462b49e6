// The pre-tokenizers of tokenizer.json. They cut a normalized text into words.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "recipes/dimabsa/tokens/bert_normalizer.h"

namespace lockstep::dimabsa {

enum class WordRule {
  bert,         // BertPreTokenizer: cuts at white characters; a punctuation character is a word
  white,        // WhitespaceSplit: cuts at white characters
  punctuation,  // Punctuation: a punctuation character is a word
  // Whitespace: separates letters, digits and _ from other marks; drops white characters
  letters
};

// Before which words Metaspace puts sentencepiece's mark of a space.
enum class SpaceMark { none, always, first };  // first: only before the text's first word

struct WordRules {
  std::vector<WordRule> rules;  // applied one after the other
  SpaceMark mark = SpaceMark::none;
  bool has_marks = false;  // whether there is a Metaspace

  std::vector<Span> operator()(const Characters& text) const;
};

// Reads "pre_tokenizer" of tokenizer.json, also a Sequence. null: the text is one word. Throws
// Error that names any other kind. file: for errors.
WordRules read_word_rules(const nlohmann::json& pre_tokenizer, const std::string& file);

}  // namespace lockstep::dimabsa
