// A line for each finished job, in the columns of GNU parallel's --joblog.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/files/fd.h"
#include "tools/jobs/files/batch_folder.h"
#include "tools/jobs/schedule/scheduler.h"

namespace lockstep {

// Columns, separated by tabs: Seq Host Starttime JobRuntime Send Receive Exitval Signal Command.
// Send is 0, Receive the size of the attempt's log. Exitval and Signal follow GNU parallel: Exitval
// is 0 after a signal and -1 after a time-out.
class Joblog {
 public:
  // Appends to an existing file. Throws Error if it holds something else, or is not writable.
  explicit Joblog(const std::filesystem::path& file);
  // Throws Error if it cannot be written.
  void add(const BatchFolder& batch, const RunningAttempt& running, const AttemptEnd& end);

 private:
  void write(const std::string& line);

  std::filesystem::path path_;
  UniqueFd file_;
};

}  // namespace lockstep
