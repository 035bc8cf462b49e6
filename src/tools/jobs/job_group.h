// Describes a group of jobs: one command for all combinations of some parameters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/jobs/job.h"
#include "tools/jobs/matrix/matrix.h"
#include "tools/jobs/place.h"

namespace lockstep {

// A group comes from a [[jobs]] table of a job file, or from the words of a command line.
struct JobGroup {
  Place place;
  // The values that all jobs of the group share. Command, environment, folder, outputs, name and
  // `after` are texts with placeholders. `after` holds names instead of keys: names of jobs or
  // groups, or patterns with * and ?. If `name` has no placeholders, it is the group's name.
  Job job;
  Matrix matrix;
  std::string base;  // absolute folder, to which a relative working folder is relative
};

// Throws Error if two groups have the same name, or if several groups give more than `most_jobs`
// jobs.
void check_groups(std::span<const JobGroup> groups);
// Returns the value of Job::kind for the group's jobs.
std::string kind_of(const JobGroup& group);

// Returns all jobs with their numbers, names and keys, in the order of the groups. Accesses no
// files. Throws Error in these cases:
//   - the groups give more than `most_jobs` jobs
//   - a placeholder has no value
//   - two groups have the same name, or a group's name with placeholders gives two jobs one name
//   - `after` matches nothing, or jobs wait for each other in a circle
JobList expand_jobs(std::span<const JobGroup> groups, const BatchLimits& limits);

}  // namespace lockstep
