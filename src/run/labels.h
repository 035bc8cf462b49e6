// What people call a run, to find it again: tags and a note.
#pragma once

#include "run/run_dir.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep {

struct RunLabels {
  std::vector<std::string> tags;  // sorted, each once
  std::string note;
  bool has(const std::string& tag) const;
};

// RUN/labels.json where somebody has changed them since, else the options run.tags and run.note of
// the record. Never throws: what is damaged is no label.
RunLabels read_labels(const RunDir& run, const nlohmann::json& record);
RunLabels read_labels(const RunDir& run);

// Of a run in any state. Throws Error where it cannot be written, or a tag is none: empty, or with
// a comma or a control character.
void write_labels(const RunDir& run, RunLabels labels);

}  // namespace lockstep
