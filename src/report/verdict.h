// What may be said of a quantity, and of the whole.
#pragma once

#include "report/comparison.h"
#include "report/differences.h"

namespace lockstep {

// Fills in contrast, conclusion and text of a row that has its values. reasons: why it is not
// comparable; empty: it is.
void judge(QuantityRow& row, std::vector<std::string> reasons, const CompareOptions& options);

// Of jobs that failed or were skipped. Those of repeats, which are the same jobs again, are counted
// and not tested.
CountRow judge_counts(const std::string& name, const Count& a, const Count& b, double confidence,
                      bool repeated);

// Fills in by, conclusion, reasons and verdict. Throws Error where options.by was not measured.
void conclude(Comparison& comparison);

}  // namespace lockstep
