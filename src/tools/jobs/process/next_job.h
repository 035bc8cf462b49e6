// Implements a job's side of workers = "kept". The job's process or a copy of it stays, and runs
// the next job.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

class NextJob {
 public:
  // Removes LOCKSTEP_WORKER from the environment. Construct it before any code changes the
  // environment.
  NextJob();
  NextJob(const NextJob&) = delete;
  NextJob& operator=(const NextJob&) = delete;

  bool possible() const { return static_cast<bool>(socket_); }
  // Forks, if the batch keeps workers and this process has one thread. arguments: the arguments of
  // the job, which are the last words of its command. The words before the arguments are the
  // program. The copy runs only jobs of the same program.
  //
  // In the calling process, this call returns nothing, and the caller runs its job. Further calls
  // do nothing.
  //
  // In the copy, this call waits, and returns the arguments of the next job. By then, the process
  // has the environment, working folder and outputs of that job, and its own session. If no further
  // job comes, the copy ends.
  std::optional<std::vector<std::string>> leave_copy(const std::vector<std::string>& arguments);
  // Ends the job but not the process. Reports that the job ended with `code`, and then waits for
  // the next job as a copy does. Returns nothing if the process must end. This is the case if the
  // batch does not keep workers, or if the process has several threads or a child. Use it only if
  // the job changed nothing in its process that a later job could see.
  std::optional<std::vector<std::string>> stay(const std::vector<std::string>& arguments, int code);
  // Whether this process has run a job before the present one.
  bool stayed() const { return stayed_; }
  // Starts this program again in this process with these words as its arguments (exec). The job
  // with these arguments then runs as in a new process. Throws Error if exec fails.
  [[noreturn]] void begin_anew(const std::vector<std::string>& words);

 private:
  std::vector<std::string> wait();
  void say(const nlohmann::json& what);
  void write_mark(const std::string& mark);

  UniqueFd socket_;
  std::string idle_mark_;
  bool stayed_ = false;
  int last_code_ = 0;     // exit code if the process ends while it waits
  char* mark_ = nullptr;  // address of the mark in the environment that the kernel shows
};

}  // namespace lockstep
