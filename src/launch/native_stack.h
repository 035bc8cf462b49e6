// Where the threads of another process are.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace lockstep {

// Writes the native stacks of all threads of `process` to `file` with eu-stack or gdb, whichever is
// found first in PATH, and returns "". Else says why not: neither is there, they may not look, or
// they took longer than limit_s. The process is held up meanwhile and goes on afterwards.
std::string write_stacks(pid_t process, const std::filesystem::path& file, double limit_s = 15);

}  // namespace lockstep
