// Finds an aspect or opinion in its text.
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

// The first occurrence of the phrase, without the spaces around it. Exact occurrences are
// preferred, then those that differ in case. Within each kind, an occurrence that begins and ends
// at borders of words is preferred. So "bar" is not found in "barely" if "bar" occurs too. Nothing
// for an empty phrase, or for null_phrase if the text does not contain it. A range never cuts a
// character.
std::optional<ByteRange> find_phrase(std::string_view text, std::string_view phrase);

}  // namespace lockstep::dimabsa
