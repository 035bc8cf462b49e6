// Expands groups into the list of jobs.
#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/jobs/graph/job_order.h"
#include "tools/jobs/job_file/job_template.h"
#include "tools/jobs/job_group.h"
#include "tools/jobs/job_key.h"
#include "tools/jobs/job_names.h"

namespace lockstep {
namespace {

constexpr std::size_t kind_digits = 12;

// Throws Error if the last job has the same name as another one with other parameters. Names that
// are equal only because some characters are replaced for file names are made unique later.
template <class Inserted>
void check_name(const JobGroup& group, const JobTemplate& text, const std::vector<Job>& jobs,
                const Inserted& inserted) {
  const auto& [name, is_new] = inserted;
  if (is_new || jobs[name->second].parameters == jobs.back().parameters ||
      text.written_name(jobs[name->second]) != text.written_name(jobs.back()))
    return;
  throw Error(cat("the name \"", group.job.name, "\" gives several jobs the name ", name->first),
              cat("let it name more parameters; there are ", join(group.matrix.names(), ", ")));
}

// Adds the jobs of one group, and their dependencies.
void expand_group(const JobGroup& group, std::vector<Job>& jobs,
                  std::vector<std::vector<std::string>>& after) {
  const JobTemplate text(group);
  std::vector<JobParameters> combinations = expand_matrix(group.matrix);
  const std::size_t total = jobs.size() + combinations.size();
  check_job_count(static_cast<double>(total), "of all groups");
  if (total > jobs.capacity()) jobs.reserve(std::max(total, 2 * jobs.capacity()));
  std::unordered_map<std::string, std::size_t> names;
  const std::string kind = kind_of(group);
  for (JobParameters& parameters : combinations) {
    const auto number = static_cast<std::int64_t>(jobs.size()) + 1;
    Job& job = jobs.emplace_back(text.make(std::move(parameters), number));
    job.kind = kind;
    if (text.names_jobs()) check_name(group, text, jobs, names.emplace(job.name, jobs.size() - 1));
    if (!text.has_after()) continue;
    after.resize(jobs.size());
    after.back() = text.after(job);
  }
}

// Sets keys from the contents of jobs. Returns, by the index of each repeated job, the key of the
// first equal one.
EqualJobs set_keys(std::vector<Job>& jobs) {
  EqualJobs equal;
  std::unordered_map<std::string_view, std::int64_t> seen;
  seen.reserve(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Job& job = jobs[i];
    job.key = job_key(job, 0);
    const auto [first, is_new] = seen.emplace(job.key, 0);
    if (is_new) continue;
    equal.emplace(i, first->first);
    job.key = job_key(job, ++first->second);
  }
  return equal;
}

std::string group_name(const JobGroup& group) {
  return group.job.name.find('{') == std::string::npos ? group.job.name : "";
}

}  // namespace

std::string kind_of(const JobGroup& group) { return job_key(group.job, 0).substr(0, kind_digits); }

void check_groups(std::span<const JobGroup> groups) {
  std::unordered_map<std::string, const JobGroup*> seen;
  for (const JobGroup& group : groups) {
    if (group_name(group).empty()) continue;
    const auto [other, is_new] = seen.emplace(group.job.name, &group);
    if (!is_new)
      throw Error(cat(group.place.text(), ": the name ", group.job.name, " is taken (",
                      other->second->place.text(), ")"),
                  "give each group of jobs a name of its own");
  }
  if (groups.size() < 2) return;  // a single group is limited by its matrix
  std::size_t total = 0;
  for (const JobGroup& group : groups)
    at_place(group.place, [&] {
      total += count_combinations(group.matrix);
      check_job_count(static_cast<double>(total), "of all groups");
    });
}

JobList expand_jobs(std::span<const JobGroup> groups, const BatchLimits& limits) {
  check_groups(groups);
  JobList list{.limits = limits};
  std::vector<JobRange> ranges;
  std::vector<std::vector<std::string>> after;
  for (const JobGroup& group : groups) {
    const std::size_t begin = list.jobs.size();
    at_place(group.place, [&] { expand_group(group, list.jobs, after); });
    ranges.push_back({group.place, group_name(group), begin, list.jobs.size()});
  }
  const EqualJobs equal = set_keys(list.jobs);
  for (Job& job : list.jobs)
    if (job.name.empty()) job.name = std::to_string(job.number);
  make_names_unique(list.jobs, equal);
  if (after.empty()) return list;
  after.resize(list.jobs.size());
  resolve_after(list.jobs, ranges, after);
  return list;
}

}  // namespace lockstep
