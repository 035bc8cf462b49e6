// Runs the tool beside this program for tasks that a rank must not do itself.
#pragma once

#include <string>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

struct SetUpRun {
  std::string path;
  UniqueFd lock;  // of the run, held by this process from now on; none: the run has finished
};

// Runs `lockstep train ARGUMENTS --world=…`. It sets up a run without launching it: a new run, or
// with --resume an existing one. devices: of every rank, as JSON. Throws Error with the tool's
// message.
SetUpRun set_up_with_tool(const std::vector<std::string>& arguments,
                          const std::vector<std::string>& devices);

}  // namespace lockstep
