// The native stacks of another process's threads.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "runtime/launch/child_group.h"

namespace lockstep {

// Writes the native stacks of all threads of a process to a file. It uses eu-stack, or gdb if
// eu-stack is not installed. The debugger runs in the background, and the caller polls. The process
// is paused during this time and continues afterwards.
class StackDump {
 public:
  StackDump(pid_t process, const std::filesystem::path& file, double limit_s = 15);
  // Nothing while it runs; an empty text on success. In case of failure, the reason: no debugger,
  // no permission, or it took longer than limit_s.
  std::optional<std::string> poll();

 private:
  double end_s_, limit_s_;
  std::string name_, fault_;  // name of the debugger, and why it failed
  std::optional<ChildGroup> debugger_;
};

}  // namespace lockstep
