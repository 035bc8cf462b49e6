// Where the threads of another process are.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "launch/child_group.h"

namespace lockstep {

// The native stacks of all threads of a process, written to a file with eu-stack or gdb, whichever
// is found first in PATH. It happens beside the caller, who asks now and then whether it is done.
// The process is held up meanwhile and goes on afterwards.
class StackDump {
 public:
  StackDump(pid_t process, const std::filesystem::path& file, double limit_s = 15);
  // Nothing while it is under way; "" once it is done. Else why there are none: no debugger is
  // there, it may not look, or it took longer than limit_s.
  std::optional<std::string> poll();

 private:
  double end_s_, limit_s_;
  std::string name_, fault_;  // of the debugger
  std::optional<ChildGroup> debugger_;
};

}  // namespace lockstep
