// Writes the report of the doctor as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/doctor/finding.h"

namespace lockstep {

// Returns each GPU with its activity and processes, and then the findings. width: the width of the
// terminal, in columns.
std::string report_text(const Scene& scene, const Findings& findings, int width);
std::string findings_text(const Findings& findings, int width);  // the findings, or "nothing found"
nlohmann::json report_json(const Scene& scene, const Findings& findings);

// Returns the findings about `pid` (the subject of the evidence) or its descendants, and the
// findings that concern no process. Returns all findings if `pid` is not set.
Findings about(const Scene& scene, const Findings& findings, std::optional<int> pid);

}  // namespace lockstep
