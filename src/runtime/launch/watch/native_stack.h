// The native stacks of another process's threads.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "runtime/launch/child_group.h"

namespace lockstep {

// Writes the native stacks of all threads of a process to a file, with eu-stack or gdb, whichever
// is found first in PATH. It runs in the background; the caller polls. The process is paused
// meanwhile and continues afterwards.
class StackDump {
 public:
  StackDump(pid_t process, const std::filesystem::path& file, double limit_s = 15);
  // Nothing while it runs; "" once it is done. Otherwise the reason for failure: no debugger, no
  // permission, or it took longer than limit_s.
  std::optional<std::string> poll();

 private:
  double end_s_, limit_s_;
  std::string name_, fault_;  // name of the debugger
  std::optional<ChildGroup> debugger_;
};

}  // namespace lockstep
