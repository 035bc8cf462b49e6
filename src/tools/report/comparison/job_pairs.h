// The jobs of two batches as pairs: which gave the same result, and in which direction a quality
// differs.
#pragma once

#include "tools/report/comparison/comparison.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lockstep {

// Compares the hashes of their models if both report them. Otherwise compares the qualities that
// both report; at least one must not be a whole number, since such values are not equal by chance.
JobRow::Outcome outcome_of(const JobFacts& a, const JobFacts& b);
// One job in one trial.
struct RepeatOfJob {
  const JobFacts* job = nullptr;
  std::string seed{};  // of the trial; "": unknown
};
// For one job in the trials of each side, at least one. The outcome is the same if each trial of
// one side equals some trial of the other. If the sides share a seed, only trials of one seed are
// compared, and trials of other seeds do not count. changed: takes the results "used.NAME" in which
// such equal trials differ; null: none.
JobRow::Outcome outcome_of(const std::vector<RepeatOfJob>& a, const std::vector<RepeatOfJob>& b,
                           std::set<std::string>* changed = nullptr);

// A test for each comparable quality among `rows` that is not a count, over the jobs done on both
// sides.
std::vector<JobPairs> pair_jobs(const JobsMatched& jobs, const std::vector<QuantityRow>& rows);

// A flag if most jobs gave the same result although their parameters differ: the parameters had no
// effect there.
std::optional<RedFlag> same_outcome_flag(const JobsMatched& jobs,
                                         const std::vector<Difference>& differences);

}  // namespace lockstep
