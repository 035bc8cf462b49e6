// Reads pre-tokenizers and applies them.
#include "recipes/dimabsa/tokens/words.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep::dimabsa {
namespace {

using nlohmann::json;

[[noreturn]] void unknown_words(const std::string& file, const std::string& what) {
  throw Error(cat(file, ": its pre_tokenizer ", what, ", which is not known here"),
              "save the tokenizer of the base model without changing its pre_tokenizer, or take a "
              "model of the BERT, XLM-R or DeBERTa-v3 family");
}

// The class of a character. Neighbours of the same class stay together. A character without a class
// separates words and is dropped.
std::optional<int> class_of(WordRule rule, char32_t character, int place) {
  const bool white = is_white(character), mark = is_punctuation(character);
  const int own = -1 - place;  // a class that no other character has
  switch (rule) {
    case WordRule::bert:
      if (white) return std::nullopt;
      return mark ? own : 0;
    case WordRule::white:
      if (white) return std::nullopt;
      return 0;
    case WordRule::punctuation:
      return mark ? own : 0;
    case WordRule::letters:
      if (white) return std::nullopt;
      return is_word(character) ? 0 : 1;
  }
  return 0;
}

std::vector<Span> cut(WordRule rule, const Characters& text, Span part) {
  std::vector<Span> words;
  std::optional<int> before;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const std::optional<int> own = class_of(rule, text[i].value, static_cast<int>(i));
    if (own && own != before) words.push_back({i, i});
    if (own) words.back().end = i + 1;
    before = own;
  }
  return words;
}

void add_rules(const json& part, const std::string& file, WordRules& words) {
  const std::string kind = part.is_object() ? text_or(part, "type", "") : "";
  if (kind == "Sequence") {
    if (const auto all = part.find("pretokenizers"); all != part.end() && all->is_array())
      for (const json& one : *all) add_rules(one, file, words);
    return;
  }
  if (words.has_marks) unknown_words(file, cat("has ", printable(kind), " behind Metaspace"));
  if (kind == "Metaspace") {
    words.has_marks = true;
    if (const std::string mark = text_or(part, "replacement", "\u2581"); mark != "\u2581")
      unknown_words(file, cat("marks spaces by ", printable(mark)));
    const bool old_form = part.contains("add_prefix_space") && !is_true(part, "add_prefix_space");
    const std::string scheme = text_or(part, "prepend_scheme", old_form ? "never" : "always");
    words.mark = scheme == "never"   ? SpaceMark::none
                 : scheme == "first" ? SpaceMark::first
                                     : SpaceMark::always;
    return;
  }
  if (kind == "Punctuation" && text_or(part, "behavior", "Isolated") != "Isolated")
    unknown_words(file, "is Punctuation whose behavior is not Isolated");
  for (const auto& [name, rule] : {std::pair("BertPreTokenizer", WordRule::bert),
                                   {"WhitespaceSplit", WordRule::white},
                                   {"Punctuation", WordRule::punctuation},
                                   {"Whitespace", WordRule::letters}})
    if (kind == name) return words.rules.push_back(rule);
  unknown_words(file, cat("is of type ", kind.empty() ? "none" : printable(kind)));
}

}  // namespace

std::vector<Span> WordRules::operator()(const Characters& text) const {
  std::vector<Span> words{{0, text.size()}};
  if (text.empty()) words.clear();
  for (const WordRule rule : rules) {
    std::vector<Span> next;
    for (const Span& word : words)
      for (const Span& part : cut(rule, text, word)) next.push_back(part);
    words = std::move(next);
  }
  return words;
}

WordRules read_word_rules(const json& pre_tokenizer, const std::string& file) {
  WordRules words;
  if (!pre_tokenizer.is_null()) add_rules(pre_tokenizer, file, words);
  return words;
}

}  // namespace lockstep::dimabsa
