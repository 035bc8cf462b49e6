// Treats the jobs of two batches as pairs: which pairs gave the same result, and in which direction
// a quality differs.
#pragma once

#include "tools/report/comparison/comparison.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lockstep {

// Compares the hashes of the two models if both jobs report them. Otherwise compares the qualities
// that both report. At least one of these must not be a whole number, since whole numbers may be
// equal by chance.
JobRow::Outcome outcome_of(const JobFacts& a, const JobFacts& b);
// One job in one trial.
struct RepeatOfJob {
  const JobFacts* job = nullptr;
  std::string seed{};  // of the trial; "": unknown
};
// Compares one job in all trials of each side (at least one). The outcome is the same if each trial
// of one side equals some trial of the other. If the sides share a seed, only trials of one seed
// are compared, and trials of other seeds do not count. changed: receives the results "used.NAME"
// in which such equal trials differ; may be null.
JobRow::Outcome outcome_of(const std::vector<RepeatOfJob>& a, const std::vector<RepeatOfJob>& b,
                           std::set<std::string>* changed = nullptr);

// Tests each quality among `rows` that is comparable and not a count, over the jobs done on both
// sides.
std::vector<JobPairs> pair_jobs(const JobsMatched& jobs, const std::vector<QuantityRow>& rows);

// Returns a flag if most jobs gave the same result although their parameters differ. The parameters
// then had no effect there.
std::optional<RedFlag> same_outcome_flag(const JobsMatched& jobs,
                                         const std::vector<Difference>& differences);

}  // namespace lockstep
