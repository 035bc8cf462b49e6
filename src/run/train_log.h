// What training said to people, kept in the run: RUN/logs/train.log.
#pragma once

#include "base/fd.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace lockstep {

inline constexpr const char* train_log_name = "logs/train.log";

// Plain lines, appended. Whatever keeps them from being written, such as a full disk, ends nothing:
// lines are missing then, and once there is room again the log says so. Not thread-safe.
class TrainLog {
 public:
  // Makes the file where it is not there; nothing of it lies beyond a link. Never throws.
  explicit TrainLog(const std::filesystem::path& run_dir);

  const std::string& fault() const { return fault_; }  // why nothing can be written; "": it can
  void write(std::string_view lines);                  // whole ones, each with its newline

 private:
  bool append(std::string_view bytes);

  UniqueFd file_;
  std::string fault_;
  bool line_open_ = false;  // the file ends within a line
  int lost_ = 0;            // the error of the last write that failed; 0: none did
};

}  // namespace lockstep
