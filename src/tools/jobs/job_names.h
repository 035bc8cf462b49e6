// Names of jobs, which are unique and plain file names.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/jobs/job.h"

namespace lockstep {

inline constexpr std::size_t longest_job_name = 100;  // bytes, without the suffix that makes equal
                                                      // names unique

// The text as a plain file name. Letters, digits and .,=+-_@%:~^ stay; any other character becomes
// _. It does not begin with a dot or a dash. A longer text is cut, and ends with its hash.
std::string plain_job_name(std::string_view text);

// "GROUP,lr=0.1,seed=2": a job's name from its group's name, which may be empty, and its
// parameters. "" if there are neither.
std::string name_of_parameters(std::string_view group, const Job& job);

// "lr=0.1,file=a/b": the unchanged parameters, for people.
std::string parameter_list(const Job& job);

// A job's name, followed by its parameters if the name lacks some of their characters: "1=a_b
// (1=a/b)". Such names may be equal for several jobs.
std::string shown_name(const Job& job);

// Whether a parameter has different values that become the same plain name, such as "M&M" and "M
// M". A name that both jobs have then stands for different jobs.
bool names_hide_difference(const Job& a, const Job& b);

// "lr=0.1-repeat-2", for the second job that would have the name.
std::string name_of_repeat(const std::string& name, int count);

// For jobs with equal keys: the index of each one except the first, and the first one's key.
using EqualJobs = std::unordered_map<std::size_t, std::string>;

// Makes equal names unique by content, never by position. Different jobs get a part of their keys.
// Equal jobs are named as repeats from the second on. Keys must be set.
void make_names_unique(std::vector<Job>& jobs, const EqualJobs& equal);

}  // namespace lockstep
