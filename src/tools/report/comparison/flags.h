// Finds red flags: results that cannot be true, or facts that explain all other differences. They
// are reported first.
#pragma once

#include "tools/report/comparison/comparison.h"
#include "tools/report/comparison/differences.h"

#include <vector>

namespace lockstep {

// rows: the quantities of the comparison, with their contrasts. The most important flag comes
// first.
std::vector<RedFlag> find_flags(const TrialGroup& a, const TrialGroup& b, const Differences& found,
                                const std::vector<QuantityRow>& rows, double margin);

}  // namespace lockstep
