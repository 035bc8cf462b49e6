// Parses numbers of devices, for example for the rows of a table. They say how many devices are
// used, not which.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Returns the numbers in a list such as "1,2,4" in ascending order. They must be from 1 to
// `available`. An empty list means 1, 2, 4, … and `available` itself. what: the name of the devices
// in messages ("GPU", "CPU rank"). typed: the value of --devices that messages quote, if it has
// more than the list ("cpu:1,2"). Throws Error for 0, a duplicate, a number above `available`, and
// any other text.
std::vector<int> device_counts(const std::string& list, int available, const std::string& what,
                               const std::string& typed = "");

}  // namespace lockstep
