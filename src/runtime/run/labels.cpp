#include "runtime/run/labels.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

constexpr const char* labels_name = "labels.json";

RunLabels from_json(const nlohmann::json& tags, const nlohmann::json& note) {
  RunLabels labels;
  if (tags.is_array())
    for (const nlohmann::json& tag : tags)
      if (tag.is_string() && !tag.get_ref<const std::string&>().empty())
        labels.tags.push_back(tag.get<std::string>());
  std::sort(labels.tags.begin(), labels.tags.end());
  labels.tags.erase(std::unique(labels.tags.begin(), labels.tags.end()), labels.tags.end());
  if (note.is_string()) labels.note = note.get<std::string>();
  return labels;
}

void check_tag(const std::string& tag) {
  if (tag.empty() || tag.find(',') != tag.npos || printable(tag) != tag || trim(tag) != tag)
    throw Error(cat("a tag must be a word without commas, but is \"", printable(tag), "\""),
                "for example: --tag baseline");
}

}  // namespace

bool RunLabels::has(const std::string& tag) const {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

RunLabels read_labels(const std::filesystem::path& folder, const nlohmann::json& record) {
  try {
    const nlohmann::json changed = parse_object(read_file(folder / labels_name));
    if (changed.is_object())
      return from_json(changed.value("tags", nlohmann::json()),
                       changed.value("note", nlohmann::json()));
  } catch (const Error&) {
    // The labels were not changed since the run began.
  }
  if (!record.is_object() || !record.contains("config") || !record["config"].is_object()) return {};
  return from_json(record["config"].value("run.tags", nlohmann::json()),
                   record["config"].value("run.note", nlohmann::json()));
}

void write_labels(const std::filesystem::path& folder, RunLabels labels) {
  for (const std::string& tag : labels.tags) check_tag(tag);
  labels = from_json(labels.tags, labels.note);
  write_file_atomic(folder / labels_name,
                    to_line({{"tags", labels.tags}, {"note", labels.note}}) + "\n");
}

}  // namespace lockstep
