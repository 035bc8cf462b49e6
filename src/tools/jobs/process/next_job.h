// A job's side of workers = "kept": a copy of the process, or the process itself, stays and becomes
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
  // Removes LOCKSTEP_WORKER from the environment. Construct it before anything changes the
  // environment.
  NextJob();
  NextJob(const NextJob&) = delete;
  NextJob& operator=(const NextJob&) = delete;

  bool possible() const { return static_cast<bool>(socket_); }
  // Forks, if the batch keeps workers and this process has one thread. arguments: those of the job,
  // the last words of its command. The words before them are the program; the copy serves jobs of
  // the same program.
  //
  // In the calling process: returns nothing; the caller runs its job. Further calls do nothing.
  //
  // In the copy: waits, and returns the arguments of the next job, with that job's environment,
  // working folder, outputs and session in place. Ends the copy if no further job comes.
  std::optional<std::vector<std::string>> leave_copy(const std::vector<std::string>& arguments);
  // Ends the job instead of the process, if the batch keeps workers and nothing is left of the job:
  // one thread, no children. Reports that it ended with `code`, and continues as a copy does. Use
  // it only if the job changed nothing in its process that a later job could see. Returns nothing
  // if the process must end.
  std::optional<std::vector<std::string>> stay(const std::vector<std::string>& arguments, int code);
  // Whether this process has run a job before.
  bool stayed() const { return stayed_; }
  // Runs the given job in this process as a newly started program with these words. Throws Error.
  [[noreturn]] void begin_anew(const std::vector<std::string>& words);

 private:
  std::vector<std::string> wait();
  void say(const nlohmann::json& what);
  void write_mark(const std::string& mark);

  UniqueFd socket_;
  std::string idle_mark_;
  bool stayed_ = false;
  int last_code_ = 0;     // exit code for a process that ends while it waits
  char* mark_ = nullptr;  // in the environment as the kernel shows it
};

}  // namespace lockstep
