// What cannot be true, or explains all else: told before everything.
#pragma once

#include "report/comparison.h"
#include "report/differences.h"

#include <vector>

namespace lockstep {

// rows: of the comparison, with their contrasts. Most important first.
std::vector<RedFlag> find_flags(const TrialGroup& a, const TrialGroup& b, const Differences& found,
                                const std::vector<QuantityRow>& rows, double margin);

}  // namespace lockstep
