// Who a process is, of /proc.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

namespace lockstep {

struct ProcessInfo {
  std::string user;  // name, or number where it has none
  std::string
      command;       // words joined with spaces; of a kernel thread or zombie its name in brackets
  double age_s = 0;  // since its start
};

// Nothing if there is no such process here: it ended, or its number is that of another PID
// namespace. proc: where /proc is.
std::optional<ProcessInfo> process_info(int pid, const std::filesystem::path& proc = "/proc");

// A process with its children, their children and so on; empty if it is not there.
std::set<int> process_tree(int pid, const std::filesystem::path& proc = "/proc");

}  // namespace lockstep
