// Messages of training to people, kept in the run: RUN/logs/train.log.
#pragma once

#include "core/base/files/fd.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace lockstep {

inline constexpr const char* train_log_name = "logs/train.log";

// Plain lines, appended. A failure to write, such as a full disk, stops nothing. Lines are missing
// then, and the log says so once there is space again. Not thread-safe.
class TrainLog {
 public:
  // Creates the file if it is missing; does not follow links. Never throws.
  explicit TrainLog(const std::filesystem::path& run_dir);

  const std::string& fault() const { return fault_; }  // why nothing can be written; "" if it can
  void write(std::string_view lines);                  // whole ones, each with its newline

 private:
  bool append(std::string_view bytes);

  UniqueFd file_;
  std::string fault_;
  bool line_open_ = false;  // the file ends within a line
  int lost_ = 0;            // errno of the last failed write; 0: none failed
};

}  // namespace lockstep
