// Adds facts that experiment trackers store with a run's numbers: parameters, state and code.
#pragma once

#include "tools/report/facts/facts.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

// Adds a parameter as a fact "param.NAME" of the kind `work`. Seeds are of the kind `means`, and
// names of runs are notes. If the value is a path, its contents are unknown. Numeric texts become
// numbers, and very long texts are cut. Members of objects become "param.NAME.KEY". Null and empty
// texts are left out.
void add_parameter(const std::string& name, const nlohmann::json& value, Trial& trial);

// Sets the state, such as "finished", "failed", "killed" or "running", in upper or lower case. All
// states except "finished" add a caution.
void add_tracked_state(const std::string& state, Trial& trial);

// Replaces a caution of the trial. Logs of other programs get the caution that parameters are
// unknown. The new caution says that a tracker has only the parameters that the user logged.
void tell_what_is_tracked(Trial& trial);

}  // namespace lockstep
