// Writes a line for each finished job, in the columns of GNU parallel's --joblog.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/files/fd.h"
#include "tools/jobs/files/batch_folder.h"
#include "tools/jobs/schedule/scheduler.h"

namespace lockstep {

// The columns are Seq, Host, Starttime, JobRuntime, Send, Receive, Exitval, Signal and Command,
// separated by tabs. Send is 0, and Receive is the size of the attempt's log. As in GNU parallel,
// Exitval is 0 after a signal and -1 after a time-out.
class Joblog {
 public:
  // Opens the file, and appends to it if it exists. Throws Error if the file is not a job log, or
  // is not writable.
  explicit Joblog(const std::filesystem::path& file);
  // Throws Error if the line cannot be written.
  void add(const BatchFolder& batch, const RunningAttempt& running, const AttemptEnd& end);

 private:
  void write(const std::string& line);

  std::filesystem::path path_;
  UniqueFd file_;
};

}  // namespace lockstep
