// What jobs printed, in the order of their numbers: --keep-order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>

namespace lockstep {

class OrderedOutput {
 public:
  // jobs: those that are still to end. fd: where it goes; it stays the caller's.
  OrderedOutput(std::set<std::int64_t> jobs, int fd);

  // The log of a job that is over, which need not be there. Copies it, and what waited for it, once
  // all jobs with lower numbers are over.
  void ended(std::int64_t job, const std::filesystem::path& log);
  // It will not run: nothing waits for it any more.
  void will_not_run(std::int64_t job);
  // Nothing but these will end any more.
  void await_only(const std::set<std::int64_t>& jobs);
  // The rest, of whatever is over.
  void finish();
  // Nobody reads it, or it cannot be written: nothing more is. The logs stay.
  bool broken() const { return broken_; }

 private:
  void copy_what_is_due();
  void copy(const std::filesystem::path& log);

  std::set<std::int64_t> awaited_;
  std::map<std::int64_t, std::filesystem::path> waiting_;  // for jobs before them
  int fd_;
  bool broken_ = false;
};

}  // namespace lockstep
