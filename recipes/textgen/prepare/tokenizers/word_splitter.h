// Splits text into words as GPT-2's tokenizer does, before byte pairs are merged within each word.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace lockstep::textgen {

// Splits text by GPT-2's regular expression, with the library PCRE2:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// Here \s stands for Unicode's property White_Space. PCRE2's own \s also matches U+180E.
class WordPattern {
 public:
  WordPattern();
  ~WordPattern();
  WordPattern(const WordPattern&) = delete;

  // Calls `word` for each word, in order. Together, the words are the whole text. The text must be
  // valid UTF-8. Several threads may call split() at once.
  void split(std::string_view text, const std::function<void(std::string_view)>& word) const;

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

}  // namespace lockstep::textgen
