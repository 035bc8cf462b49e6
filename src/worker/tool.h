// The tool beside this program, for what a rank must not do itself.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"

namespace lockstep {

struct SetUpRun {
  std::string path;
  UniqueFd lock;  // of the run, which this process holds from now on; none: the run has finished
};

// Runs `lockstep train ARGUMENTS --world=…`, which sets a run up without launching it: one that it
// created, or with --resume found. devices: of every rank, as JSON. Throws Error with what the tool
// said.
SetUpRun set_up_with_tool(const std::vector<std::string>& arguments,
                          const std::vector<std::string>& devices);

}  // namespace lockstep
