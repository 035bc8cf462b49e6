// Finds added tokens in a text, such as "[SEP]". The text between them is cut into words later.
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
  bool single_word = false;  // only found without is_word() characters next to it
  // whether whitespace before the token (lstrip) or after it (rstrip) becomes part of the token
  bool lstrip = false, rstrip = false;
  // whether the token is searched for in the normalized text, not in the original text
  bool normalized = false;
};

class AddedTokens {
 public:
  // Keeps the tokens whose member `normalized` equals the argument `normalized`. If the argument is
  // true, the texts of these tokens are normalized with `normalize`.
  AddedTokens(const std::vector<AddedToken>& tokens, bool normalized,
              const std::function<Characters(Characters)>& normalize);

  // From left to right, calls `token` with the id and the characters of each token that it finds.
  // It calls `text` with the non-empty parts between tokens. If several tokens begin at the same
  // character, the longest is taken.
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
