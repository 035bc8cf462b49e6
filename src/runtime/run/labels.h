// Labels that people give to a run or a batch, to find it again: tags and a note.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep {

struct RunLabels {
  std::vector<std::string> tags;  // sorted, each once
  std::string note;
  bool has(const std::string& tag) const;
};

// Reads FOLDER/labels.json if somebody has changed the labels since; otherwise the options run.tags
// and run.note of the record. Never throws: damaged labels are ignored.
RunLabels read_labels(const std::filesystem::path& folder, const nlohmann::json& record);

// Writes the labels of a run in any state. Throws Error if they cannot be written, or if a tag is
// invalid: empty, or with a comma, a control character or space around it.
void write_labels(const std::filesystem::path& folder, RunLabels labels);

}  // namespace lockstep
