// Splits text into words as GPT-2 does, before byte pairs are merged.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace lockstep::textgen {

// GPT-2's pattern through PCRE2:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// with \s as the White_Space property of Unicode (PCRE2's own \s has U+180E too).
class WordPattern {
 public:
  WordPattern();
  ~WordPattern();
  WordPattern(const WordPattern&) = delete;

  // The words in order; together they are the whole text, which is valid UTF-8. Thread-safe.
  void split(std::string_view text, const std::function<void(std::string_view)>& word) const;

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

}  // namespace lockstep::textgen
