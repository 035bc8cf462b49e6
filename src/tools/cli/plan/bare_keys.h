// Short option names on commands that have a group of their own.
#pragma once

#include "core/config/explain_key.h"
#include "planning/run_setup.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// How to read a bare KEY. It may mean GROUP.KEY for one of these groups, if the recipe's table has
// that option.
struct BareKeys {
  std::vector<std::string> groups{};
  // False: GROUP.KEY takes precedence over an option KEY, as on `lockstep predict`. True: the
  // reverse, as on `lockstep train`.
  bool options_first = false;
};

// Returns the assignments with full keys. Throws Error for a key that is no option in either form
// (it suggests the nearest), and for a key that several groups have. Keys that `explain` knows are
// left to apply_config.
std::vector<std::string> with_groups(const RunSetup& setup, const BareKeys& bare,
                                     std::vector<std::string> assignments,
                                     const ExplainKey& explain);

}  // namespace lockstep::cli
