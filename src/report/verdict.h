// What may be said of a quantity, and of the whole.
#pragma once

#include "report/comparison.h"
#include "report/differences.h"

namespace lockstep {

// Fills in contrast, conclusion and text of a row that has its values. reasons: why it is not
// comparable; empty: it is.
void judge(QuantityRow& row, std::vector<std::string> reasons, const CompareOptions& options);

// Jobs of both sides that failed or were skipped.
struct CountedJobs {
  Count a, b;
  std::optional<OneSided> one_sided{};  // of one trial a side with the same jobs
  bool repeated = false;                // a side has several trials
};

// The same jobs on both sides are pairs: McNemar's exact test; counts that somebody else reports
// are not: Fisher's. Jobs of repeats, which are the same jobs again, are counted and not tested.
CountRow judge_counts(const std::string& name, const CountedJobs& jobs, double confidence);

// Fills in by, conclusion, reasons and verdict. Throws Error where options.by was not measured.
void conclude(Comparison& comparison);

}  // namespace lockstep
