// Makes the texts about a trial of two commands.
#pragma once

#include <string>

#include "tools/cli/abtest/abtest_result.h"

namespace lockstep::cli {

// Returns a line about the newest pair and the interval so far:
//   "pair 12   A 21.2 ms   B 61.3 ms   B / A 2.893 ± 0.7 %, ends at ± 0.9 %"
std::string pair_line(const AbtestSetup& setup, const AbtestTrial& trial, const Contrast& contrast);

// Returns the warnings, a table of the quantities, the verdict, and the statistical method.
std::string abtest_text(const AbtestSetup& setup, const AbtestTrial& trial,
                        const AbtestResult& result);

std::string format_seconds(double seconds);  // "21.2 ms", "3.05 s"; "-" if unknown
std::string end_text(AbtestEnd end);         // "the interval is narrow enough"

}  // namespace lockstep::cli
