// Short names of options on the commands that have a group of their own.
#pragma once

#include "config/explain_key.h"
#include "plan/run_setup.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// How a bare KEY is read: it may mean GROUP.KEY of one of these, where the recipe's table has that.
struct BareKeys {
  std::vector<std::string> groups{};
  // On `lockstep predict` GROUP.KEY comes before an option KEY; on `lockstep train` after it.
  bool options_first = false;
};

// The assignments with their keys in full. Throws Error for a key that is no option either way,
// naming the nearest, and for one that several groups have. Those that `explain` knows are left to
// apply_config.
std::vector<std::string> with_groups(const RunSetup& setup, const BareKeys& bare,
                                     std::vector<std::string> assignments,
                                     const ExplainKey& explain);

}  // namespace lockstep::cli
