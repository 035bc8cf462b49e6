// The jobs of two batches as pairs: which gave the same result, and in which direction a quality
// differs.
#pragma once

#include "tools/report/comparison/comparison.h"

#include <optional>
#include <vector>

namespace lockstep {

// Compares the hashes of their models if both report them. Otherwise compares the qualities that
// both report; at least one must not be a whole number, since such values are not equal by chance.
JobRow::Outcome outcome_of(const JobFacts& a, const JobFacts& b);
// For one job in the trials of each side, at least one. The outcome is the same if each trial of
// one side equals some trial of the other, as with repeats of the same seeds in any order.
JobRow::Outcome outcome_of(const std::vector<const JobFacts*>& a,
                           const std::vector<const JobFacts*>& b);

// A test for each comparable quality among `rows` that is not a count, over the jobs done on both
// sides.
std::vector<JobPairs> pair_jobs(const JobsMatched& jobs, const std::vector<QuantityRow>& rows);

// A flag if most jobs gave the same result although their parameters differ: the parameters had no
// effect there.
std::optional<RedFlag> same_outcome_flag(const JobsMatched& jobs,
                                         const std::vector<Difference>& differences);

}  // namespace lockstep
