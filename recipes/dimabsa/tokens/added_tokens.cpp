#include "recipes/dimabsa/tokens/added_tokens.h"

#include <algorithm>

namespace lockstep::dimabsa {
namespace {

bool alone(const Characters& all, Span span) {
  return (span.begin == 0 || !is_word(all[span.begin - 1].value)) &&
         (span.end == all.size() || !is_word(all[span.end].value));
}

}  // namespace

AddedTokens::AddedTokens(const std::vector<AddedToken>& tokens, bool normalized,
                         const std::function<Characters(Characters)>& normalize) {
  for (const AddedToken& token : tokens) {
    if (token.normalized != normalized) continue;
    Characters characters = characters_of(token.text);
    if (normalized) characters = normalize(std::move(characters));
    std::u32string text;
    for (const Character& c : characters) text += c.value;
    if (!text.empty()) patterns_.push_back({std::move(text), token});
  }
  std::ranges::stable_sort(
      patterns_, [](const Pattern& a, const Pattern& b) { return a.text.size() > b.text.size(); });
}

const AddedTokens::Pattern* AddedTokens::longest_at(const Characters& all, std::size_t at) const {
  const auto equal = [](char32_t a, const Character& b) { return a == b.value; };
  for (const Pattern& pattern : patterns_)
    if (all.size() - at >= pattern.text.size() && pattern.text.front() == all[at].value &&
        std::equal(pattern.text.begin(), pattern.text.end(),
                   all.begin() + static_cast<std::ptrdiff_t>(at), equal))
      return &pattern;
  return nullptr;
}

void AddedTokens::split(const Characters& all, const std::function<void(Span)>& text,
                        const std::function<void(std::int64_t, Span)>& token) const {
  std::size_t done = 0;
  for (std::size_t at = 0; at < all.size() && !patterns_.empty();) {
    const Pattern* const found = longest_at(all, at);
    if (found == nullptr) {
      ++at;
      continue;
    }
    Span span{at, at + found->text.size()};
    at = span.end;
    if (found->token.single_word && !alone(all, span)) continue;
    if (found->token.lstrip)
      while (span.begin > done && is_white(all[span.begin - 1].value)) --span.begin;
    if (found->token.rstrip)
      while (span.end < all.size() && is_white(all[span.end].value)) ++span.end;
    if (done < span.begin) text({done, span.begin});
    token(found->token.id, span);
    at = done = span.end;
  }
  if (done < all.size()) text({done, all.size()});
}

}  // namespace lockstep::dimabsa
