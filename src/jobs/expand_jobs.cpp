// From groups to the list of jobs.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "jobs/job_group.h"
#include "jobs/job_key.h"
#include "jobs/job_names.h"
#include "jobs/job_order.h"
#include "jobs/job_template.h"

namespace lockstep {
namespace {

constexpr std::size_t kind_digits = 12;

// The last job has the name that was put in, or that an other had before.
template <class Inserted>
void check_name(const JobGroup& group, const std::vector<Job>& jobs, const Inserted& inserted) {
  const auto& [name, is_new] = inserted;
  if (is_new || jobs[name->second].parameters == jobs.back().parameters) return;
  throw Error(cat("the name \"", group.job.name, "\" gives several jobs the name ", name->first),
              cat("let it name more parameters; there are ", join(group.matrix.names(), ", ")));
}

// Adds the jobs of one group, and what they wait for.
void expand_group(const JobGroup& group, std::vector<Job>& jobs,
                  std::vector<std::vector<std::string>>& after) {
  const JobTemplate text(group);
  std::vector<JobParameters> combinations = expand_matrix(group.matrix);
  const std::size_t total = jobs.size() + combinations.size();
  check_job_count(static_cast<double>(total), "of all groups");
  if (total > jobs.capacity()) jobs.reserve(std::max(total, 2 * jobs.capacity()));
  std::unordered_map<std::string, std::size_t> names;
  const std::string kind = job_key(group.job, 0).substr(0, kind_digits);
  for (JobParameters& parameters : combinations) {
    const auto number = static_cast<std::int64_t>(jobs.size()) + 1;
    Job& job = jobs.emplace_back(text.make(std::move(parameters), number));
    job.kind = kind;
    if (text.names_jobs()) check_name(group, jobs, names.emplace(job.name, jobs.size() - 1));
    if (!text.has_after()) continue;
    after.resize(jobs.size());
    after.back() = text.after(job);
  }
}

// Keys by content; returns those that the jobs would have as the first of their kind.
std::vector<std::string> set_keys(std::vector<Job>& jobs) {
  std::vector<std::string> first_keys;
  first_keys.reserve(jobs.size());
  std::unordered_map<std::string, std::int64_t> seen;
  seen.reserve(jobs.size());
  for (Job& job : jobs) {
    first_keys.push_back(job_key(job, 0));
    const std::int64_t occurrence = seen[first_keys.back()]++;
    job.key = occurrence == 0 ? first_keys.back() : job_key(job, occurrence);
  }
  return first_keys;
}

std::string group_name(const JobGroup& group) {
  return group.job.name.find('{') == std::string::npos ? group.job.name : "";
}

void check_group_names(const std::vector<JobGroup>& groups) {
  std::unordered_map<std::string, const JobGroup*> seen;
  for (const JobGroup& group : groups) {
    if (group_name(group).empty()) continue;
    const auto [other, is_new] = seen.emplace(group.job.name, &group);
    if (!is_new)
      throw Error(cat(group.place.text(), ": the name ", group.job.name, " is taken (",
                      other->second->place.text(), ")"),
                  "give each group of jobs a name of its own");
  }
}

}  // namespace

JobList expand_jobs(const std::vector<JobGroup>& groups, const BatchLimits& limits) {
  check_group_names(groups);
  JobList list{.limits = limits};
  std::vector<JobRange> ranges;
  std::vector<std::vector<std::string>> after;
  for (const JobGroup& group : groups) {
    const std::size_t begin = list.jobs.size();
    at_place(group.place, [&] { expand_group(group, list.jobs, after); });
    ranges.push_back({group.place, group_name(group), begin, list.jobs.size()});
  }
  const std::vector<std::string> first_keys = set_keys(list.jobs);
  for (Job& job : list.jobs)
    if (job.name.empty()) job.name = std::to_string(job.number);
  make_names_unique(list.jobs, first_keys);
  if (after.empty()) return list;
  after.resize(list.jobs.size());
  resolve_after(list.jobs, ranges, after);
  return list;
}

}  // namespace lockstep
