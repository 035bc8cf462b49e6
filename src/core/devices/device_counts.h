// Parses a list of numbers of devices, for the rows of `lockstep bench`. Each number says how many
// devices are used, not which.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Returns the numbers in a list such as "1,2,4" in ascending order. An empty list gives 1, 2, 4, …
// and `available` itself. Throws Error if an element is no number from 1 to `available`, or occurs
// twice. what: the name of the devices in messages ("GPU", "CPU rank"). typed: the value of
// --devices for messages, if it differs from `list` ("cpu:1,2").
std::vector<int> device_counts(const std::string& list, int available, const std::string& what,
                               const std::string& typed = "");

}  // namespace lockstep
