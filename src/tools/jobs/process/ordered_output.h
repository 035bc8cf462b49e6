// Prints the output of jobs in the order of their numbers: --keep-order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>

namespace lockstep {

class OrderedOutput {
 public:
  // jobs: those that have not ended yet. fd: the destination, which the caller keeps open.
  OrderedOutput(std::set<std::int64_t> jobs, int fd);

  // log: that of the finished job; it need not exist. Once all jobs with lower numbers are over,
  // copies it, and then the logs that waited for it.
  void ended(std::int64_t job, const std::filesystem::path& log);
  // Says that the job will not run, so nothing waits for it any more.
  void will_not_run(std::int64_t job);
  // Says that only these jobs will still end.
  void await_only(const std::set<std::int64_t>& jobs);
  // Copies the remaining logs of finished jobs.
  void finish();
  // True if the reader is gone or writing failed. Nothing more is written then. The logs stay.
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
