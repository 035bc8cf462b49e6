// A job's side of workers = "kept": a copy of the process stays behind and becomes the next job.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"

namespace lockstep {

class NextJob {
 public:
  // Takes LOCKSTEP_WORKER out of the environment. Make it before anything changes the environment.
  NextJob();
  NextJob(const NextJob&) = delete;
  NextJob& operator=(const NextJob&) = delete;

  bool possible() const { return static_cast<bool>(socket_); }
  // Forks, where the batch keeps workers and this process has one thread. `arguments`: those of the
  // job, the last words of its command; what is before them is the program, and a job with the same
  // is one for the copy.
  // Here: nothing; the caller runs its job. Calls after the first do nothing.
  // In the copy: waits, and returns the arguments of the next job, whose environment, working
  // folder, outputs and session it then has. Ends the copy where no job comes any more.
  std::optional<std::vector<std::string>> leave_copy(const std::vector<std::string>& arguments);

 private:
  void become_idle();
  std::optional<std::vector<std::string>> wait();
  void write_mark(const std::string& mark);

  UniqueFd socket_;
  std::string idle_mark_;
  char* mark_ = nullptr;  // in the environment as the kernel shows it
};

}  // namespace lockstep
