// The pre-tokenizers of tokenizer.json, which cut a normalized text into words.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "recipes/dimabsa/tokens/bert_normalizer.h"

namespace lockstep::dimabsa {

enum class WordRule {
  bert,         // BertPreTokenizer: cuts at whitespace; a punctuation character is a word
  white,        // WhitespaceSplit: cuts at whitespace
  punctuation,  // Punctuation: a punctuation character is a word
  // Whitespace: cuts at whitespace; separates letters, digits and _ from all other characters
  letters
};

// The words before which Metaspace puts sentencepiece's mark of a space (U+2581).
enum class SpaceMark { none, always, first };  // first: only the first word of the text

struct WordRules {
  std::vector<WordRule> rules;  // applied one after the other
  SpaceMark mark = SpaceMark::none;
  bool has_marks = false;  // whether there is a Metaspace

  std::vector<Span> operator()(const Characters& text) const;
};

// Reads "pre_tokenizer" of tokenizer.json: Metaspace, one of the kinds of WordRule, or a Sequence.
// If it is null, the whole text is one word. For any other kind, throws Error that names it. file:
// the file's name, for messages.
WordRules read_word_rules(const nlohmann::json& pre_tokenizer, const std::string& file);

}  // namespace lockstep::dimabsa
