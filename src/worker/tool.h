// Runs the tool in this program's folder for tasks that a rank must not do itself.
#pragma once

#include <string>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

struct SetUpRun {
  std::string path;
  // The lock of the run, which this process holds from now on. Empty if the run has finished.
  UniqueFd lock;
};

// Runs `lockstep train ARGUMENTS --world=…`, which sets up a run without launching ranks. It is a
// new run, or with --resume an existing one. devices: the devices of all ranks, as JSON. If the
// tool fails, it prints the reason. This function then throws Error that refers to that output.
SetUpRun set_up_with_tool(const std::vector<std::string>& arguments,
                          const std::vector<std::string>& devices);

}  // namespace lockstep
