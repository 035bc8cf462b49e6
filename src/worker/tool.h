// Runs the tool (`lockstep`) in this program's folder, for tasks that a rank must not do itself.
#pragma once

#include <string>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

struct SetUpRun {
  std::string path;
  // The descriptor of the run's lock, which this process now holds. Empty if the run has finished.
  UniqueFd lock;
};

// Runs `lockstep train ARGUMENTS --world=…`, which creates a run without launching ranks. With
// --resume, it prepares an existing run to be resumed. devices: the devices of all ranks, each as a
// JSON text. If the tool fails, it prints the reason, and this function throws Error that refers to
// that output.
SetUpRun set_up_with_tool(const std::vector<std::string>& arguments,
                          const std::vector<std::string>& devices);

}  // namespace lockstep
