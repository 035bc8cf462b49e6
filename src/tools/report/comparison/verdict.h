// Conclusions about a quantity, and about the whole comparison.
#pragma once

#include "tools/report/comparison/comparison.h"
#include "tools/report/comparison/differences.h"

namespace lockstep {

// Sets contrast, conclusion and text of a row that already has its values. reasons: why the
// quantity is not comparable; empty if it is.
void judge(QuantityRow& row, std::vector<std::string> reasons, const CompareOptions& options);

// Failed or skipped jobs of both sides.
struct CountedJobs {
  Count a, b;
  std::optional<OneSided> one_sided{};  // set if each side has one trial with the same jobs
  bool repeated = false;                // a side has several trials
};

// If both sides ran the same jobs, these are pairs, and get McNemar's exact test. Counts from other
// sources are not pairs, and get Fisher's test. If a side has several trials, jobs are counted but
// not tested, because repeats of a job are the same job.
CountRow judge_counts(const std::string& name, const CountedJobs& jobs, double confidence);

// Finds the one of `names` that `name` means: itself, best.NAME, or the only one that ends in
// .NAME. "" if there is none; throws Error if there are several.
std::string full_name(const std::string& name, const std::vector<std::string>& names);

// Sets by, conclusion, reasons and verdict. Throws Error if options.by was not measured.
void conclude(Comparison& comparison);

}  // namespace lockstep
