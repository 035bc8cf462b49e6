// Makes a page on logs of other programs and runs of experiment trackers. It shows known facts,
// measurements, and overlaid loss curves.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "tools/report/facts/facts.h"
#include "tools/report/pages/figures.h"
#include "tools/report/pages/page.h"

namespace lockstep {

// trials: must not be empty. axis: step or time. It cannot be samples, because their number is
// unknown.
Page trials_page(const std::vector<Trial>& trials, CurveAxis axis);

// Returns {"kind": "logs", "version": 1, "logs": [{"name", "path", "source", "state", "facts",
// "quantities", "curve", "cautions"}, …]}.
nlohmann::json trials_json(const std::vector<Trial>& trials);

}  // namespace lockstep
