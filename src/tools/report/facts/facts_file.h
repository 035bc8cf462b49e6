// Reads a report in TOML that a person wrote by hand, as one trial (docs/reference/comparison.md,
// "A file of facts").
#pragma once

#include "tools/report/facts/facts.h"

#include <filesystem>

namespace lockstep {

// Throws Error if the file cannot be read or is not such a report. The error names the file, and
// the line of a faulty entry.
Trial read_facts_file(const std::filesystem::path& file);

}  // namespace lockstep
