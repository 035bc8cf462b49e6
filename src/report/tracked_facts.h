// What experiment trackers keep of a run beside its numbers: parameters, state, code.
#pragma once

#include "report/facts.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

// A parameter by its name, as the fact "param.NAME" of the work; a seed is one of the means. What
// lies at a path is not known, and names of runs are notes. Texts that are numbers become such,
// texts without an end are cut, objects become "param.NAME.KEY"; null is left out.
void add_parameter(const std::string& name, const nlohmann::json& value, Trial& trial);

// "finished", "failed", "killed", "running", in any case; all but the first are cautions.
void add_tracked_state(const std::string& state, Trial& trial);

// Trackers keep the parameters that somebody logged, which may be all or some: in place of the
// caution of logs that none are known.
void tell_what_is_tracked(Trial& trial);

}  // namespace lockstep
