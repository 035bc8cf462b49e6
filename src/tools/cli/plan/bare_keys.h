// Completes option names that are typed without their group, on commands that have a group of their
// own.
#pragma once

#include "core/config/explain_key.h"
#include "planning/run_setup.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// How to read a bare KEY, which has no group. It may mean GROUP.KEY for one of these groups, if the
// recipe has that option.
struct BareKeys {
  std::vector<std::string> groups{};
  // If false, GROUP.KEY takes precedence over an option KEY, as on `lockstep predict`. If true, an
  // option KEY takes precedence, as on `lockstep train`.
  bool options_first = false;
};

// Returns the assignments with full keys. Throws Error for an unknown key if another key is near to
// it; the error suggests that one. Also throws Error for a key that several groups have, and for a
// setting of training that the run keeps. All other unknown keys stay as they are, and apply_config
// reports them.
std::vector<std::string> with_groups(const RunSetup& setup, const BareKeys& bare,
                                     std::vector<std::string> assignments,
                                     const ExplainKey& explain);

}  // namespace lockstep::cli
