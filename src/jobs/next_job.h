// A job's side of workers = "kept": a copy of the process stays behind and becomes the next job, or
// the process itself stays and does.
#pragma once

#include <nlohmann/json_fwd.hpp>
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
  // Ends the job in place of the process, where the batch keeps workers and nothing is left of the
  // job: one thread, no children. Says that it ended with `code`, and goes on as a copy does. Only
  // for what changes nothing of its process that a later job could see.
  // Returns nothing where the process is to end.
  std::optional<std::vector<std::string>> stay(const std::vector<std::string>& arguments, int code);
  // Whether this process has run a job before.
  bool stayed() const { return stayed_; }
  // The job that this process was given as a program that has just been started: these words.
  // Throws Error.
  [[noreturn]] void begin_anew(const std::vector<std::string>& words);

 private:
  std::vector<std::string> wait();
  void say(const nlohmann::json& what);
  void write_mark(const std::string& mark);

  UniqueFd socket_;
  std::string idle_mark_;
  bool stayed_ = false;
  int last_code_ = 0;     // of a process that ends while it waits
  char* mark_ = nullptr;  // in the environment as the kernel shows it
};

}  // namespace lockstep
