// Orders the slices of a folder by their names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::volume {

// Compares numbers in names by value: "z9" before "z10".
bool natural_less(std::string_view a, std::string_view b);
// Checks names in natural order. If their stems end in numbers, returns the fault: a number that is
// missing or repeated, or two series. Empty if there is none. If some names have no number, there
// is no fault.
std::string find_gap(const std::vector<std::string>& names);

}  // namespace lockstep::volume
