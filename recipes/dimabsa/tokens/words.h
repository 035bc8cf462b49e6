// The pre-tokenizers of tokenizer.json: how a normalized text is cut into words.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "recipes/dimabsa/tokens/bert_normalizer.h"

namespace lockstep::dimabsa {

enum class WordRule {
  bert,         // white characters part words, a punctuation character is a word (BertPreTokenizer)
  white,        // white characters part words (WhitespaceSplit)
  punctuation,  // a punctuation character is a word (Punctuation)
  letters       // letters, digits and _ part from other marks, white characters go (Whitespace)
};

// sentencepiece's mark of a space, which begins words (Metaspace).
enum class SpaceMark { none, always, first };  // first: of the text alone

struct WordRules {
  std::vector<WordRule> rules;  // one after the other
  SpaceMark mark = SpaceMark::none;
  bool has_marks = false;  // whether there is a Metaspace

  std::vector<Span> operator()(const Characters& text) const;
};

// "pre_tokenizer" of tokenizer.json, also a Sequence; null: the text is one word. Throws Error that
// names another kind. file: for errors.
WordRules read_word_rules(const nlohmann::json& pre_tokenizer, const std::string& file);

}  // namespace lockstep::dimabsa
