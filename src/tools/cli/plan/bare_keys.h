// Completes option names that are typed without their group, such as `threshold` for
// `predict.threshold` on `lockstep predict`.
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

// Returns the assignments with full keys. Throws Error for an unknown key that resembles a known
// one; the error suggests the known key. Also throws Error for a key that several groups have, and
// for a training option on a command that only reads a run. All other unknown keys stay as they
// are, and apply_config reports them.
std::vector<std::string> with_groups(const RunSetup& setup, const BareKeys& bare,
                                     std::vector<std::string> assignments,
                                     const ExplainKey& explain);

}  // namespace lockstep::cli
