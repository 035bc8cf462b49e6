// Short option names on commands that have a group of their own.
#pragma once

#include "core/config/explain_key.h"
#include "planning/run_setup.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// How a bare KEY is read: it may mean GROUP.KEY for one of these groups, if the recipe's table has
// that.
struct BareKeys {
  std::vector<std::string> groups{};
  // On `lockstep predict` GROUP.KEY takes precedence over an option KEY; on `lockstep train` the
  // reverse.
  bool options_first = false;
};

// The assignments with full keys. Throws Error for a key that is no option either way, naming the
// nearest, and for one that several groups have. Keys that `explain` knows are left to
// apply_config.
std::vector<std::string> with_groups(const RunSetup& setup, const BareKeys& bare,
                                     std::vector<std::string> assignments,
                                     const ExplainKey& explain);

}  // namespace lockstep::cli
