// The jobs of two batches as pairs: which gave the same, and which way a quality differs.
#pragma once

#include "report/comparison.h"

#include <optional>
#include <vector>

namespace lockstep {

// By the hashes of their models where both report them; else by the qualities that both report,
// where one at least is no whole number: such values are not the same by chance.
JobRow::Outcome outcome_of(const JobFacts& a, const JobFacts& b);
// Of one job in the trials of each side, at least one: the same where each trial of one side gave
// what some trial of the other gave, as repeats with the same seeds do, in whatever order they are.
JobRow::Outcome outcome_of(const std::vector<const JobFacts*>& a,
                           const std::vector<const JobFacts*>& b);

// A test for each quality among `rows` that may be compared and is no count, over the jobs that
// are done on both sides.
std::vector<JobPairs> pair_jobs(const JobsMatched& jobs, const std::vector<QuantityRow>& rows);

// Where most jobs gave the same although their parameters differ: these changed nothing there.
std::optional<RedFlag> same_outcome_flag(const JobsMatched& jobs,
                                         const std::vector<Difference>& differences);

}  // namespace lockstep
