// Finds tokens such as "[SEP]" in a text, before the rest of the text is cut into words.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "recipes/dimabsa/tokens/bert_normalizer.h"

namespace lockstep::dimabsa {

struct AddedToken {
  std::string text;
  std::int64_t id = 0;
  bool single_word = false;  // whether it is only found as a whole word
  // whether whitespace before the token (lstrip) or after it (rstrip) becomes part of it
  bool lstrip = false, rstrip = false;
  // whether it is searched for in the normalized text, not in the original text
  bool normalized = false;
};

class AddedTokens {
 public:
  // Keeps the tokens whose member `normalized` equals the argument `normalized`. If it is true, the
  // texts of these tokens are normalized with `normalize`.
  AddedTokens(const std::vector<AddedToken>& tokens, bool normalized,
              const std::function<Characters(Characters)>& normalize);

  // From left to right, calls `token` with the id and the characters of each token that it finds.
  // It calls `text` with the non-empty parts between tokens. If several tokens begin at one place,
  // the longest is taken.
  void split(const Characters& all, const std::function<void(Span)>& text,
             const std::function<void(std::int64_t, Span)>& token) const;

 private:
  struct Pattern {
    std::u32string text;
    AddedToken token;
  };
  const Pattern* longest_at(const Characters& all, std::size_t at) const;
  std::vector<Pattern> patterns_;  // longest first
};

}  // namespace lockstep::dimabsa
