// What the doctor says, for people and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "doctor/finding.h"

namespace lockstep {

// Every GPU with what it does and who is on it, then the findings. width: of the terminal.
std::string report_text(const Scene& scene, const Findings& findings, int width);
std::string findings_text(const Findings& findings, int width);  // or "nothing found"
nlohmann::json report_json(const Scene& scene, const Findings& findings);

// Those that are about `pid`, the subject of the evidence, or a process below it, and those about
// no process; all where it is nothing.
Findings about(const Scene& scene, const Findings& findings, std::optional<int> pid);

}  // namespace lockstep
