// Runs the tool in this program's folder for tasks that a rank must not do itself.
#pragma once

#include <string>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

struct SetUpRun {
  std::string path;
  UniqueFd lock;  // lock of the run, which this process holds from now on; none: the run has
                  // finished
};

// Runs `lockstep train ARGUMENTS --world=…`. It sets up a run without launching it: a new run, or
// with --resume an existing one. devices: those of all ranks, as JSON. Throws Error with the tool's
// message.
SetUpRun set_up_with_tool(const std::vector<std::string>& arguments,
                          const std::vector<std::string>& devices);

}  // namespace lockstep
