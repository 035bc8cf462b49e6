// What people call a run or a batch, to find it again: tags and a note.
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

// FOLDER/labels.json where somebody has changed them since, else the options run.tags and run.note
// of the record. Never throws: what is damaged is no label.
RunLabels read_labels(const std::filesystem::path& folder, const nlohmann::json& record);

// Of a run in any state. Throws Error where it cannot be written, or a tag is none: empty, or with
// a comma, a control character or space around it.
void write_labels(const std::filesystem::path& folder, RunLabels labels);

}  // namespace lockstep
