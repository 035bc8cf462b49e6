// Dependencies between jobs: names become keys, and circles are detected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/jobs/job.h"
#include "tools/jobs/place.h"

namespace lockstep {

// Jobs of one group, as [begin, end) of the list. `name` may be empty.
struct JobRange {
  Place place;
  std::string name;
  std::size_t begin = 0, end = 0;
};

inline constexpr std::size_t most_dependencies = 1'000'000;

// Sets `after` of each job to the keys that `names` lists for it: a job, a group, or a pattern with
// * and ? over names of jobs. names: one entry per job, possibly empty. Throws Error for a name
// that nothing has (the nearest is named), more than `most_dependencies`, or a circle (it is
// named).
void resolve_after(std::vector<Job>& jobs, const std::vector<JobRange>& groups,
                   const std::vector<std::vector<std::string>>& names);

}  // namespace lockstep
