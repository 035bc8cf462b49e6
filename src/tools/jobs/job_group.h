// Jobs of the same kind: one command for all combinations of some parameters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/jobs/job.h"
#include "tools/jobs/matrix/matrix.h"
#include "tools/jobs/place.h"

namespace lockstep {

// A [[jobs]] table of a job file, or the words of a command line.
struct JobGroup {
  Place place;
  // Values shared by its jobs. Command, environment, folder, outputs, name and after are texts with
  // placeholders. `after` has names (of jobs, of groups, or patterns with * and ?) instead of keys.
  // A name without placeholders is the group's name.
  Job job;
  Matrix matrix;
  std::string base;  // absolute: the base of a relative working folder
};

// Throws Error for two groups of the same name, and for more jobs than `most_jobs`.
void check_groups(std::span<const JobGroup> groups);
// Job::kind for its jobs.
std::string kind_of(const JobGroup& group);

// All jobs with their numbers, names and keys, in the order of the groups; at most `most_jobs`.
// Throws Error: placeholders without a value, two groups or jobs of the same name, `after` that
// matches nothing or forms a circle. Accesses no files.
JobList expand_jobs(std::span<const JobGroup> groups, const BatchLimits& limits);

}  // namespace lockstep
