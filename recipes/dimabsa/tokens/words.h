// The pre-tokenizers of tokenizer.json, which cut a normalized text into words.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "recipes/dimabsa/tokens/bert_normalizer.h"

namespace lockstep::dimabsa {

enum class WordRule {
  bert,         // BertPreTokenizer: cuts at whitespace; each punctuation character is a word
  white,        // WhitespaceSplit: cuts at whitespace
  punctuation,  // Punctuation: each punctuation character is a word
  // Whitespace: cuts at whitespace; separates letters, digits and _ from all other characters
  letters
};

// The words before which the pre-tokenizer Metaspace puts sentencepiece's mark of a space (U+2581).
enum class SpaceMark { none, always, first };  // first: only the first word of the text

struct WordRules {
  std::vector<WordRule> rules;  // applied one after the other
  SpaceMark mark = SpaceMark::none;
  bool has_marks = false;  // whether the pre-tokenizer contains a Metaspace

  std::vector<Span> operator()(const Characters& text) const;
};

// Reads the value of the key "pre_tokenizer" of tokenizer.json. It may be a Metaspace, one of the
// kinds of WordRule, or a Sequence of these. If it is null, the whole text is one word. For any
// other kind, throws Error that names the kind. file: the file's name, for messages.
WordRules read_word_rules(const nlohmann::json& pre_tokenizer, const std::string& file);

}  // namespace lockstep::dimabsa
