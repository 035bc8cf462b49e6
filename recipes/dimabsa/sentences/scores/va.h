// Valence and arousal in the form of files: "V#A", for example "7.12#6.50".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

inline constexpr double least_va = 1, largest_va = 9;

// How to treat a valence or arousal of a file outside 1 to 9.
enum class OutOfRange {
  refuse,  // an Error that names the line
  clip,    // it becomes the nearest value of the range
  skip,    // its sentence is left out
  keep     // it stays as it is, as in the shared task's scorer
};

// Parses two finite numbers of any range with one '#' between them. Nothing for any other text.
std::optional<ValenceArousal> parse_va(std::string_view text);
bool in_range(const ValenceArousal& va);  // whether both are in 1 to 9

// Clamped to 1 to 9; a value that is not finite becomes 5.
ValenceArousal clamped(const ValenceArousal& va);
// Clamped and rounded to two decimals.
std::string format_va(const ValenceArousal& va);

// Euclidean distance; at most sqrt(128) within the range.
double distance(const ValenceArousal& a, const ValenceArousal& b);

}  // namespace lockstep::dimabsa
