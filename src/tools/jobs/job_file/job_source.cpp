#include "tools/jobs/job_file/job_source.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "core/base/hash.h"
#include "tools/jobs/job_file/job_template.h"
#include "tools/jobs/job_key.h"

namespace lockstep {
namespace {

// Whether each job can be generated without the others.
bool stands_alone(const JobGroup& group) {
  return group.job.after.empty() && group.matrix.include.empty();
}

bool has_equal(std::vector<std::uint64_t>& values) {
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end()) != values.end();
}

}  // namespace

JobSource::JobSource(std::vector<JobGroup> groups, const BatchLimits& limits)
    : groups_(std::move(groups)), limits_(limits) {
  check_groups(groups_);
  const bool alone = std::all_of(groups_.begin(), groups_.end(), stands_alone);
  if (alone && are_told_apart()) return;
  list_ = expand_jobs(groups_, limits_);
  size_ = list_->jobs.size();
  groups_.clear();
}

// Whether all keys and names are different. Hashes are compared. If two are equal by chance, the
// result is false, and the complete list decides.
bool JobSource::are_told_apart() {
  std::vector<std::uint64_t> keys, names;
  make_each([&](const Job& job) {
    keys.push_back(hash64(job.key));
    names.push_back(hash64(job.name));
  });
  size_ = keys.size();
  return !has_equal(keys) && !has_equal(names);
}

void JobSource::make_each(const Visit& visit) const {
  std::int64_t number = 0;
  for (const JobGroup& group : groups_)
    at_place(group.place, [&] {
      const JobTemplate text(group);
      const std::string kind = kind_of(group);
      each_combination(group.matrix, [&](JobParameters parameters) {
        Job job = text.make(std::move(parameters), ++number);
        job.kind = kind;
        job.key = job_key(job, 0);
        if (job.name.empty()) job.name = std::to_string(number);
        visit(job);
      });
    });
}

void JobSource::each(const Visit& visit) const {
  if (!list_) return make_each(visit);
  for (const Job& job : list_->jobs) visit(job);
}

JobList JobSource::list() const { return list_ ? *list_ : expand_jobs(groups_, limits_); }

bool JobSource::wants_gpu() const {
  const auto wants = [](const Job& job) { return job.gpus.kind != GpuRequest::Kind::none; };
  if (list_) return std::any_of(list_->jobs.begin(), list_->jobs.end(), wants);
  return std::any_of(groups_.begin(), groups_.end(),
                     [&](const JobGroup& group) { return wants(group.job); });
}

}  // namespace lockstep
