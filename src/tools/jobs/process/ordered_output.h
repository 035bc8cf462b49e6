// The output of jobs in the order of their numbers: --keep-order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>

namespace lockstep {

class OrderedOutput {
 public:
  // jobs: those that are still to end. fd: the destination; the caller keeps it.
  OrderedOutput(std::set<std::int64_t> jobs, int fd);

  // log: that of the finished job, which need not exist. Copies it, and logs that waited for it,
  // once all jobs with lower numbers are over.
  void ended(std::int64_t job, const std::filesystem::path& log);
  // The job will not run: nothing waits for it any more.
  void will_not_run(std::int64_t job);
  // No jobs but these will end any more.
  void await_only(const std::set<std::int64_t>& jobs);
  // Copies the remaining logs of finished jobs.
  void finish();
  // The reader is gone, or writing failed: nothing more is written. The logs stay.
  bool broken() const { return broken_; }

 private:
  void copy_what_is_due();
  void copy(const std::filesystem::path& log);

  std::set<std::int64_t> awaited_;
  std::map<std::int64_t, std::filesystem::path> waiting_;  // waiting for jobs before them
  int fd_;
  bool broken_ = false;
};

}  // namespace lockstep
