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
  // Values shared by the group's jobs. Command, environment, folder, outputs, name and `after` are
  // texts with placeholders. `after` has names (of jobs, of groups, or patterns with * and ?)
  // instead of keys. A name without placeholders is the group's name.
  Job job;
  Matrix matrix;
  std::string base;  // absolute: the base of a relative working folder
};

// Throws Error if two groups have the same name, or if there are more jobs than `most_jobs`.
void check_groups(std::span<const JobGroup> groups);
// Returns Job::kind for the group's jobs.
std::string kind_of(const JobGroup& group);

// Returns all jobs with their numbers, names and keys, in the order of the groups; at most
// `most_jobs`. Throws Error for placeholders without a value, for two groups or jobs of the same
// name, and if `after` matches nothing or forms a circle. Accesses no files.
JobList expand_jobs(std::span<const JobGroup> groups, const BatchLimits& limits);

}  // namespace lockstep
