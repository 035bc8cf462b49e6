// Generates the jobs of a batch one by one, as often as needed. So a batch of a million jobs does
// not need memory for all of them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "tools/jobs/job_group.h"

namespace lockstep {

class JobSource {
 public:
  using Visit = std::function<void(const Job&)>;

  // Generates all jobs once, to check them. Throws Error as expand_jobs() does.
  JobSource(std::vector<JobGroup> groups, const BatchLimits& limits);

  // Visits the jobs that expand_jobs() returns, in the same order. A job is valid until `visit`
  // returns.
  void each(const Visit& visit) const;
  JobList list() const;  // all jobs in memory
  std::size_t size() const { return size_; }
  const BatchLimits& limits() const { return limits_; }
  bool wants_gpu() const;

 private:
  void make_each(const Visit& visit) const;
  bool are_told_apart();

  std::vector<JobGroup> groups_;
  BatchLimits limits_;
  std::size_t size_ = 0;
  // All jobs, if the keys, names or order of some jobs depend on other jobs. Otherwise nothing.
  std::optional<JobList> list_;
};

}  // namespace lockstep
