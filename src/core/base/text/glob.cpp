#include "core/base/text/glob.h"

#include <algorithm>
#include <set>

#include "core/base/text/text.h"

namespace lockstep {

std::optional<std::vector<std::string>> glob_captures(std::string_view pattern,
                                                      std::string_view text) {
  std::vector<std::string> captures;
  std::size_t p = 0, t = 0;
  // The last star, and where the text that it matches begins.
  std::size_t star = pattern.npos, begin = 0;
  while (true) {
    if (p < pattern.size() && pattern[p] == '*') {
      if (star != pattern.npos) captures.back() = text.substr(begin, t - begin - (p - star - 1));
      captures.emplace_back();
      star = p++;
      begin = t;
      continue;
    }
    if (p < pattern.size() && t < text.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
      continue;
    }
    if (p == pattern.size() && t == text.size()) break;
    // The last star matches one more character.
    if (star == pattern.npos || t - (p - star - 1) >= text.size()) return std::nullopt;
    t = t - (p - star - 1) + 1;
    p = star + 1;
  }
  if (star != pattern.npos)
    captures.back() = text.substr(begin, text.size() - begin - (pattern.size() - star - 1));
  return captures;
}

bool glob_matches(std::string_view pattern, std::string_view text) {
  return glob_captures(pattern, text).has_value();
}

bool any_matches(std::span<const std::string> patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return glob_matches(pattern, text); });
}

std::optional<std::string> glob_renamed(std::string_view from, std::string_view to,
                                        std::string_view text) {
  const auto captures = glob_captures(from, text);
  if (!captures) return std::nullopt;
  std::string renamed;
  std::size_t next = 0;
  for (const char letter : to) {
    if (letter != '*')
      renamed += letter;
    else if (next < captures->size())
      renamed += (*captures)[next++];
  }
  return renamed;
}

std::string hint_for_pattern(std::string_view pattern, std::span<const std::string> names) {
  std::set<std::string> groups, first;
  for (const std::string& name : names)
    for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1)) {
      groups.insert(name.substr(0, dot) + ".*");
      if (name.find('.') == dot) first.insert(name.substr(0, dot) + ".*");
    }
  std::vector<std::string> candidates(names.begin(), names.end());
  candidates.insert(candidates.end(), groups.begin(), groups.end());
  if (const std::string near = nearest(pattern, candidates); !near.empty())
    return cat("did you mean ", near, "?");
  for (const std::string& name : names)
    if (name.find('.') == name.npos) first.insert(name);
  constexpr std::size_t most = 12;
  std::vector<std::string> some(first.begin(), first.end());
  const std::size_t more = some.size() > most ? some.size() - most : 0;
  some.resize(some.size() - more);
  if (some.empty()) return "";
  return cat("the names are: ", join(some, ", "), more > 0 ? cat(" and ", more, " more") : "");
}

}  // namespace lockstep
