// Jobs of a batch, made one by one as often as they are wanted, so that a million of them need not
// be held.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "jobs/job_group.h"

namespace lockstep {

class JobSource {
 public:
  using Visit = std::function<void(const Job&)>;

  // Makes all jobs once, to see that they can be made. Throws Error as `expand_jobs`.
  JobSource(std::vector<JobGroup> groups, const BatchLimits& limits);

  // The jobs of `expand_jobs`, in their order. A job is there until `visit` returns.
  void each(const Visit& visit) const;
  JobList list() const;  // all of them at once
  std::size_t size() const { return size_; }
  const BatchLimits& limits() const { return limits_; }
  bool wants_gpu() const;

 private:
  void make_each(const Visit& visit) const;
  bool are_told_apart();

  std::vector<JobGroup> groups_;
  BatchLimits limits_;
  std::size_t size_ = 0;
  // Where key, name or order of a job depend on other jobs.
  std::optional<JobList> list_;
};

}  // namespace lockstep
