// Writes the native (C++) stacks of another process to a file.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "runtime/launch/child_group.h"

namespace lockstep {

// Writes the stacks of all threads of `process` to `file`. Uses eu-stack, or gdb if eu-stack is not
// installed. This debugger runs in the background until poll() reports its end. It pauses the
// process during this time. limit_s: the debugger is killed after this time.
class StackDump {
 public:
  StackDump(pid_t process, const std::filesystem::path& file, double limit_s = 15);
  // Returns nothing while the debugger runs, and an empty text on success. If it failed, returns
  // the reason: no debugger, no permission, or it took longer than limit_s.
  std::optional<std::string> poll();

 private:
  double end_s_, limit_s_;
  std::string name_, fault_;  // name of the debugger, and why it could not be started
  std::optional<ChildGroup> debugger_;
};

}  // namespace lockstep
