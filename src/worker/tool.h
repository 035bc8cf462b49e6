// The tool beside this program, for what a rank must not do itself.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Runs `lockstep train ARGUMENTS --world=…`, which sets a run up without launching it, and returns
// the path of the run it created (or found, with --resume). devices: of every rank, as JSON. Throws
// Error with what the tool said.
std::string create_run_with_tool(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& devices);

}  // namespace lockstep
