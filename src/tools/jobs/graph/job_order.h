// Resolves dependencies between jobs: names become keys, and circles are detected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/jobs/job.h"
#include "tools/jobs/place.h"

namespace lockstep {

// The jobs of one group: the range [begin, end) of the list. `name` may be empty.
struct JobRange {
  Place place;
  std::string name;
  std::size_t begin = 0, end = 0;
};

inline constexpr std::size_t most_dependencies = 1'000'000;

// Sets `after` of each job to the keys of the jobs that `names` lists for it. A name is the name of
// a job or group, or a pattern with * and ? for names of jobs. names: an entry per job, which may
// be empty. Throws Error in these cases:
//   - no job and no group has the name; the error suggests the nearest one
//   - the jobs have more than `most_dependencies` dependencies in all
//   - jobs depend on each other in a circle; the error names them
void resolve_after(std::vector<Job>& jobs, const std::vector<JobRange>& groups,
                   const std::vector<std::vector<std::string>>& names);

}  // namespace lockstep
