// Tokens that are found in a text as they are written, before it is cut into words: "[SEP]".
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
  bool single_word = false;             // not within a longer word
  bool lstrip = false, rstrip = false;  // with the white characters beside it
  bool normalized = false;              // found in the normalized text, not in the original
};

class AddedTokens {
 public:
  // Takes those of `tokens` whose `normalized` equals this argument. If it is true, `normalize` is
  // applied to their texts.
  AddedTokens(const std::vector<AddedToken>& tokens, bool normalized,
              const std::function<Characters(Characters)>& normalize);

  // Calls `text` with each part of `all` between tokens, which is not empty, and `token` with each
  // token's id and part, from left to right; the longest token counts.
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
