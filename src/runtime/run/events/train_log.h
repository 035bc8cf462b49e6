// RUN/logs/train.log, a copy of the messages that training prints for people.
#pragma once

#include "core/base/files/fd.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace lockstep {

inline constexpr const char* train_log_name = "logs/train.log";

// Appends lines of plain text. A failure to write, such as a full disk, does not stop training. The
// lines are then lost, and the log notes this once there is space again. Not thread-safe.
class TrainLog {
 public:
  // Creates the file if it is missing. Does not follow links. Never throws.
  explicit TrainLog(const std::filesystem::path& run_dir);

  // why the log cannot be opened; empty if it is open
  const std::string& fault() const { return fault_; }
  void write(std::string_view lines);  // complete lines, each with its newline

 private:
  bool append(std::string_view bytes);

  UniqueFd file_;
  std::string fault_;
  bool line_open_ = false;  // the file ends within a line
  int lost_ = 0;            // errno of the last failed write; 0 = none failed
};

}  // namespace lockstep
