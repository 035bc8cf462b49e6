// A line for each job that is over, in the columns of GNU parallel's --joblog.
#pragma once

#include <filesystem>
#include <string>

#include "base/fd.h"
#include "jobs/batch_folder.h"
#include "jobs/scheduler.h"

namespace lockstep {

// Seq Host Starttime JobRuntime Send Receive Exitval Signal Command, with tabs between. Send is 0,
// Receive the size of the attempt's log. Exitval and Signal are those of GNU parallel: a signal has
// Exitval 0, a time-out -1.
class Joblog {
 public:
  // A file that is there is continued. Throws Error if it holds something else, or cannot be
  // written.
  explicit Joblog(const std::filesystem::path& file);
  // Throws Error where it cannot be written.
  void add(const BatchFolder& batch, const RunningAttempt& running, const AttemptEnd& end);

 private:
  void write(const std::string& line);

  std::filesystem::path path_;
  UniqueFd file_;
};

}  // namespace lockstep
