// Draws conclusions about a quantity, and about the whole comparison.
#pragma once

#include "tools/report/comparison/comparison.h"
#include "tools/report/comparison/differences.h"

namespace lockstep {

// Sets contrast, conclusion and text of a row that already has its values. reasons: why the
// quantity cannot be compared; empty if it can be compared.
void judge(QuantityRow& row, std::vector<std::string> reasons, const CompareOptions& options);

// The failed or skipped jobs of both sides.
struct CountedJobs {
  Count a, b;
  // set if each side is a single batch, and both have the same jobs
  std::optional<OneSided> one_sided{};
  bool repeated = false;  // whether a side has several trials
};

// Tests whether the sides differ. If both sides ran the same jobs, the jobs are pairs, and
// McNemar's exact test is used. If the jobs differ, the counts are not pairs, and Fisher's exact
// test is used. If a side has several trials, jobs are counted but not tested, because repeats of a
// job do not count as different jobs.
CountRow judge_counts(const std::string& name, const CountedJobs& jobs, double confidence);

// Returns the name in `names` for which `name` stands: `name` itself, best.NAME, or the only name
// that ends in .NAME. Returns "" if there is no such name. Throws Error if several names end in
// .NAME.
std::string full_name(const std::string& name, const std::vector<std::string>& names);

// Sets `by`, `conclusion`, `reasons` and `verdict`. Throws Error if options.by was not measured on
// both sides.
void conclude(Comparison& comparison);

}  // namespace lockstep
