// Logs of other programs and runs of experiment trackers as a page: what is known of them, what was
// measured, and the curves of their losses over each other.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "report/facts.h"
#include "report/figures.h"
#include "report/page.h"

namespace lockstep {

// trials: not empty. axis: step or time; of samples nothing is known.
Page trials_page(const std::vector<Trial>& trials, CurveAxis axis);

// {"kind": "logs", "version": 1, "logs": [{"name", "path", "source", "state", "facts",
// "quantities", "curve", "cautions"}, …]}
nlohmann::json trials_json(const std::vector<Trial>& trials);

}  // namespace lockstep
