// Facts that experiment trackers store beside a run's numbers: parameters, state, code.
#pragma once

#include "tools/report/facts/facts.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

// Adds a parameter as the work fact "param.NAME"; a seed becomes one of the means. If the value is
// a path, the contents are unknown. Names of runs are notes. Numeric texts become numbers, very
// long texts are cut, objects become "param.NAME.KEY", and null is left out.
void add_parameter(const std::string& name, const nlohmann::json& value, Trial& trial);

// "finished", "failed", "killed", "running", in any case. All but the first add a caution.
void add_tracked_state(const std::string& state, Trial& trial);

// Says that trackers store only the parameters that a user logged, which may be all or some. This
// replaces the caution of logs that no parameters are known.
void tell_what_is_tracked(Trial& trial);

}  // namespace lockstep
