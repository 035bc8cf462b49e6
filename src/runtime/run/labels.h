// The labels of a run or a batch, by which people find it again: tags and a note.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep {

struct RunLabels {
  std::vector<std::string> tags;  // sorted, without duplicates
  std::string note;
  bool has(const std::string& tag) const;
};

// Reads FOLDER/labels.json, which exists if a user changed the labels later. Without this file,
// returns the options run.tags and run.note in the record (run.json). Never throws; damaged labels
// are ignored.
RunLabels read_labels(const std::filesystem::path& folder, const nlohmann::json& record);

// Writes FOLDER/labels.json. The run may be training or have ended. Throws Error if the file cannot
// be written, or if a tag is not valid. A tag must not be empty, contain a comma or control
// character, or begin or end with a space.
void write_labels(const std::filesystem::path& folder, RunLabels labels);

}  // namespace lockstep
