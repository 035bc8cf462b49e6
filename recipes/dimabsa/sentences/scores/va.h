// Valence and arousal as files write them: "V#A", as "7.12#6.50".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

inline constexpr double least_va = 1, largest_va = 9;

// The treatment of a valence or arousal of a file that leaves this range.
enum class OutOfRange {
  refuse,  // an Error that names the line
  clip,    // the nearest value of the range
  skip,    // its sentence is left out
  keep     // it stays as it is, as in the shared task's scorer
};

// Nothing unless it is two finite numbers with one '#' between them, of whatever range.
std::optional<ValenceArousal> parse_va(std::string_view text);
bool in_range(const ValenceArousal& va);  // both of 1 to 9

// Clamped to 1 to 9; what is not finite becomes 5.
ValenceArousal clamped(const ValenceArousal& va);
// Clamped and rounded to two decimals.
std::string format_va(const ValenceArousal& va);

// Euclidean; at most sqrt(128) within the range.
double distance(const ValenceArousal& a, const ValenceArousal& b);

}  // namespace lockstep::dimabsa
