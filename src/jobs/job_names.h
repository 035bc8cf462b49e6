// Names of jobs: unique, and plain names of files.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "jobs/job.h"

namespace lockstep {

inline constexpr std::size_t longest_job_name = 100;  // bytes, before what tells equal names apart

// The text as a plain name of a file: letters, digits and .,=+-_@%:~^ stay, anything else becomes
// _; it does not begin with a dot or a dash. A longer text is cut, and ends with its hash.
std::string plain_job_name(std::string_view text);

// "GROUP,lr=0.1,seed=2": the name of a job from its group's name, which may be empty, and its
// parameters. "" where there are neither.
std::string name_of_parameters(std::string_view group, const Job& job);

// "lr=0.1,file=a/b": the parameters as they are, for people.
std::string parameter_list(const Job& job);

// The name of a job, followed by its parameters where the name cannot have all of their characters:
// "1=a_b (1=a/b)". Such names may be alike.
std::string shown_name(const Job& job);

// "lr=0.1-repeat-2", of the second job that would have the name.
std::string name_of_repeat(const std::string& name, int count);

// Of jobs that are equal in all that decides their key: the place of each but the first, and the
// key of the first.
using EqualJobs = std::unordered_map<std::size_t, std::string>;

// Tells jobs of one name apart, by content and never by place: of jobs that differ each gets a
// piece of its key, jobs that are equal are repeats from the second on. Keys have been set.
void make_names_unique(std::vector<Job>& jobs, const EqualJobs& equal);

}  // namespace lockstep
