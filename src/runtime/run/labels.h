// Labels by which people find a run or a batch again: tags and a note.
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

// Reads FOLDER/labels.json if it exists, which means that a user changed the labels. If not,
// returns the options run.tags and run.note of the record. Never throws: damaged labels are
// ignored.
RunLabels read_labels(const std::filesystem::path& folder, const nlohmann::json& record);

// Writes the labels of a run in any state. Throws Error if they cannot be written, or if a tag is
// not valid. A tag must not be empty, contain a comma or control character, or begin or end with a
// space.
void write_labels(const std::filesystem::path& folder, RunLabels labels);

}  // namespace lockstep
