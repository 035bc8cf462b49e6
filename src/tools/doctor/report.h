// The doctor's report, for people and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/doctor/finding.h"

namespace lockstep {

// Every GPU with its activity and processes, then the findings. width: of the terminal.
std::string report_text(const Scene& scene, const Findings& findings, int width);
std::string findings_text(const Findings& findings, int width);  // or "nothing found"
nlohmann::json report_json(const Scene& scene, const Findings& findings);

// Returns the findings about `pid` (the subject of the evidence) or its descendants, and those
// about no process. Returns all findings if `pid` is nothing.
Findings about(const Scene& scene, const Findings& findings, std::optional<int> pid);

}  // namespace lockstep
