// Finds an aspect or opinion in a text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace lockstep::dimabsa {

struct ByteRange {
  std::size_t begin = 0, end = 0;  // bytes [begin, end) of a text
  friend bool operator==(const ByteRange&, const ByteRange&) = default;

  std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }
};

// Returns the first occurrence of a phrase in a text. Spaces around the phrase are ignored.
// Occurrences that differ in case are only considered if there is no exact occurrence. An
// occurrence that begins and ends at borders of words is preferred. So "bar" is not found in
// "barely" if "bar" also occurs as a word. Returns no value if there is no occurrence or the phrase
// is empty. The range never begins or ends within a character.
std::optional<ByteRange> find_phrase(std::string_view text, std::string_view phrase);

}  // namespace lockstep::dimabsa
