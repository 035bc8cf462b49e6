// The order of the slices in a folder, by their names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::volume {

// Numbers by their value: "z9" before "z10".
bool natural_less(std::string_view a, std::string_view b);
// The fault of names in natural order whose stems end in numbers: a number that is missing or there
// twice, or two series. Empty: none. If some names have no number, all are in order.
std::string find_gap(const std::vector<std::string>& names);

}  // namespace lockstep::volume
