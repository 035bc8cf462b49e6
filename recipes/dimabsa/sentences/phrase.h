// Where an aspect or opinion stands in its text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace lockstep::dimabsa {

struct ByteRange {
  std::size_t begin = 0, end = 0;  // bytes [begin, end) of the text
  friend bool operator==(const ByteRange&, const ByteRange&) = default;

  std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }
};

// The first occurrence of the phrase, spaces around it aside: written exactly so, else without
// regard to case. Among the occurrences of either kind, one that begins and ends with a word comes
// first. So "bar" is not found in "barely" while there is a bar. Nothing for an empty phrase, and
// for null_phrase if the text does not hold it. A range never cuts a character.
std::optional<ByteRange> find_phrase(std::string_view text, std::string_view phrase);

}  // namespace lockstep::dimabsa
