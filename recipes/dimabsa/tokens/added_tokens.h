// Tokens that are found in a text as they are written, before it is cut into words, such as
// "[SEP]".
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
  bool single_word = false;  // not found within a longer word
  // the token takes the white characters before, or after, it too
  bool lstrip = false, rstrip = false;
  bool normalized = false;  // found in the normalized text, not in the original one
};

class AddedTokens {
 public:
  // Keeps those of `tokens` whose `normalized` equals this argument. If it is true, their texts are
  // normalized with `normalize`.
  AddedTokens(const std::vector<AddedToken>& tokens, bool normalized,
              const std::function<Characters(Characters)>& normalize);

  // From left to right, calls `token` with the id and part of each token found, and `text` with
  // each non-empty part between tokens. If several tokens begin at a place, the longest is taken.
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
