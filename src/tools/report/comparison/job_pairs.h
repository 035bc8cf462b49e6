// Compares the jobs of two batches as pairs. It finds pairs that gave the same result, and the
// direction in which a quality differs.
#pragma once

#include "tools/report/comparison/comparison.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lockstep {

// Compares the hashes of the two models if both jobs report them. Otherwise compares the qualities
// that both jobs report. If all values are equal whole numbers, the outcome is `unknown`, because
// whole numbers may be equal by chance.
JobRow::Outcome outcome_of(const JobFacts& a, const JobFacts& b);
// One job in one trial.
struct RepeatOfJob {
  const JobFacts* job = nullptr;
  std::string seed{};  // seed of the trial; empty if unknown
};
// Compares one job in all trials of each side. Each side has at least one trial. The outcome is the
// same if each trial of one side has the outcome of some trial of the other. If the sides share
// seeds, only trials with equal seeds are compared, and trials with other seeds are ignored.
// changed: gets the results "used.NAME" that differ between equal trials; may be null.
JobRow::Outcome outcome_of(const std::vector<RepeatOfJob>& a, const std::vector<RepeatOfJob>& b,
                           std::set<std::string>* changed = nullptr);

// Tests each quality in `rows` over the jobs that are done on both sides. Counts, and qualities
// that cannot be compared, are left out.
std::vector<JobPairs> pair_jobs(const JobsMatched& jobs, const std::vector<QuantityRow>& rows);

// Returns a flag if most jobs gave the same result although their parameters differ. These
// parameters then had no effect.
std::optional<RedFlag> same_outcome_flag(const JobsMatched& jobs,
                                         const std::vector<Difference>& differences);

}  // namespace lockstep
