// Numbers of devices, for a table over them: how many, never which.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// "1,2,4" as rising numbers from 1 to `available`; empty: 1, 2, 4, … and `available` itself.
// Throws Error on anything else, on 0, on one that is given twice and on one that is too many.
// what: of the devices, in messages ("GPU", "CPU rank").
std::vector<int> device_counts(const std::string& list, int available, const std::string& what);

}  // namespace lockstep
