// Prints the output of jobs in the order of their numbers: --keep-order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>

namespace lockstep {

class OrderedOutput {
 public:
  // jobs: the jobs that have not ended yet. fd: the destination, which the caller keeps open.
  OrderedOutput(std::set<std::int64_t> jobs, int fd);

  // Reports a finished job with its log, which need not exist. Copies the log once all jobs with
  // lower numbers are over. Then also copies the logs that waited for this job.
  void ended(std::int64_t job, const std::filesystem::path& log);
  // Reports that the job will not run. After that, no log waits for this job.
  void will_not_run(std::int64_t job);
  // Reports that only these jobs may still end. After that, no log waits for another job.
  void await_only(const std::set<std::int64_t>& jobs);
  // Copies the remaining logs of finished jobs.
  void finish();
  // Returns true if the reader is gone or writing failed. After that, nothing more is written. The
  // log files are kept.
  bool broken() const { return broken_; }

 private:
  void copy_what_is_due();
  void copy(const std::filesystem::path& log);

  std::set<std::int64_t> awaited_;
  // logs that wait for jobs with lower numbers
  std::map<std::int64_t, std::filesystem::path> waiting_;
  int fd_;
  bool broken_ = false;
};

}  // namespace lockstep
