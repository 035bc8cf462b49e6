// Dependencies between jobs: names become keys, and circles are detected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/jobs/job.h"
#include "tools/jobs/place.h"

namespace lockstep {

// The jobs of one group, as the range [begin, end) of the list. `name` may be empty.
struct JobRange {
  Place place;
  std::string name;
  std::size_t begin = 0, end = 0;
};

inline constexpr std::size_t most_dependencies = 1'000'000;

// Sets `after` of each job to the keys of the jobs that `names` lists for it. A name is a job, a
// group, or a pattern with * and ? over names of jobs. names: one entry per job, possibly empty.
// Throws Error if nothing has the name (it suggests the nearest), if there are more than
// `most_dependencies`, or if there is a circle (it names the circle).
void resolve_after(std::vector<Job>& jobs, const std::vector<JobRange>& groups,
                   const std::vector<std::vector<std::string>>& names);

}  // namespace lockstep
