// A job's side of workers = "kept": either a copy of the process or the process itself stays, and
// becomes the next job.
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
  // Forks, if the batch keeps workers and this process has one thread. arguments: those of the job,
  // which are the last words of its command. The words before them are the program. The copy serves
  // only jobs of the same program.
  //
  // In the calling process it returns nothing, and the caller runs its job. Further calls do
  // nothing.
  //
  // In the copy it waits, and returns the arguments of the next job. That job's environment,
  // working folder, outputs and session are then in place. If no further job comes, the copy ends.
  std::optional<std::vector<std::string>> leave_copy(const std::vector<std::string>& arguments);
  // Ends the job but not the process, if the batch keeps workers and the job has left nothing: one
  // thread, no children. Reports that the job ended with `code`, and continues as a copy does. Use
  // it only if the job changed nothing in its process that a later job could see. Returns nothing
  // if the process must end.
  std::optional<std::vector<std::string>> stay(const std::vector<std::string>& arguments, int code);
  // Whether this process has run a job before.
  bool stayed() const { return stayed_; }
  // Runs the given job in this process, as a newly started program with these words would. Throws
  // Error.
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
