// Orders the slices of a folder by their names, and finds gaps in their numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::volume {

// Returns whether `a` is before `b` in natural order. Numbers in names are compared by value, so
// "z9" is before "z10".
bool natural_less(std::string_view a, std::string_view b);
// Checks names that, without their extensions, end in a number. names: in the order of
// natural_less. Returns a text that describes the first fault: a missing number, a repeated number,
// or names of two series. Returns an empty text if there is no fault, or if a name has no number.
// The numbers may increase in steps of more than 1, if all steps are equal.
std::string find_gap(const std::vector<std::string>& names);

}  // namespace lockstep::volume
