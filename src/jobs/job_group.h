// Jobs that are alike: one command for all combinations of some parameters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "jobs/job.h"
#include "jobs/matrix.h"
#include "jobs/place.h"

namespace lockstep {

// What a [[jobs]] table of a job file says, or the words of a command line.
struct JobGroup {
  Place place;
  // What its jobs share. In command, environment, folder, outputs, name and after stand texts with
  // placeholders; `after` has names (of jobs, of groups, or patterns with * and ?) instead of keys.
  // A name without placeholders is that of the group.
  Job job;
  Matrix matrix;
  std::string base;  // absolute: where a relative working folder begins
};

// Throws Error: two groups of one name, more jobs than `most_jobs`.
void check_groups(std::span<const JobGroup> groups);
// Job::kind of its jobs.
std::string kind_of(const JobGroup& group);

// All jobs with their numbers, names and keys, in the order of the groups; at most `most_jobs`.
// Throws Error: placeholders without a value, two groups or jobs of one name, `after` that names
// nothing or leads around a circle. Looks at no file.
JobList expand_jobs(std::span<const JobGroup> groups, const BatchLimits& limits);

}  // namespace lockstep
