// Reads and writes valence and arousal (VA) in the form of the files: "V#A", for example
// "7.12#6.50".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

inline constexpr double least_va = 1, largest_va = 9;

// How to treat a valence or arousal that is outside [1, 9] in a file.
enum class OutOfRange {
  refuse,  // throws Error that names the line
  clip,    // the value becomes 1 or 9, whichever is nearer
  skip,    // the sentence is left out
  keep     // the value stays as it is, as in the shared task's scorer
};

// Parses two finite numbers with a '#' between them. The numbers may be outside [1, 9]. Returns no
// value for any other text.
std::optional<ValenceArousal> parse_va(std::string_view text);
bool in_range(const ValenceArousal& va);  // whether both are in [1, 9]

// Clamps both values to [1, 9]. A value that is not finite becomes 5.
ValenceArousal clamped(const ValenceArousal& va);
// Returns "V#A" with clamped values, rounded to two decimals.
std::string format_va(const ValenceArousal& va);

// Returns the Euclidean distance. It is at most sqrt(128) for values in [1, 9].
double distance(const ValenceArousal& a, const ValenceArousal& b);

}  // namespace lockstep::dimabsa
