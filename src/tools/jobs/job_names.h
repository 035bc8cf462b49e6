// Makes the names of jobs, which are unique and plain file names.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/jobs/job.h"

namespace lockstep {

// the longest name in bytes, without the suffix that makes equal names unique
inline constexpr std::size_t longest_job_name = 100;

// Returns the text as a plain file name. Letters, digits and .,=+-_@%:~^ are kept, and any other
// character becomes _. The name does not begin with a dot or a dash. A text that is too long is
// cut, and its hash is appended.
std::string plain_job_name(std::string_view text);

// Returns a job's name, made from its group's name and its parameters: "GROUP,lr=0.1,seed=2". The
// group's name may be empty. Returns "" if the group has no name and the job has no parameters.
std::string name_of_parameters(std::string_view group, const Job& job);

// Returns the unchanged parameters for people: "lr=0.1,file=a/b".
std::string parameter_list(const Job& job);

// Returns a job's name for people. If the name lacks some characters of the parameters, they follow
// in parentheses: "1=a_b (1=a/b)". Several jobs may have the same shown name.
std::string shown_name(const Job& job);

// Whether two jobs differ in a parameter, but its values become the same plain name, such as "M&M"
// and "M M". Their common name then stands for two different jobs.
bool names_hide_difference(const Job& a, const Job& b);

// Returns the name of a repeat, which is a job equal to an earlier one. An example is
// "lr=0.1-repeat-2" for the second job "lr=0.1".
std::string name_of_repeat(const std::string& name, int count);

// Jobs that are equal in content to an earlier job. Maps the index of each such job to the key of
// the first job with this content.
using EqualJobs = std::unordered_map<std::size_t, std::string>;

// Makes equal names unique. The new names depend on the content of jobs, and not on their
// positions. Different jobs with one name get a part of their keys as a suffix. Equal jobs are
// named as repeats, from the second one on. Keys must be set.
void make_names_unique(std::vector<Job>& jobs, const EqualJobs& equal);

}  // namespace lockstep
