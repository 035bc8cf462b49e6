// Reads a run's own record.
#include "recipes/volume/prepare/prepared_run.h"

#include <nlohmann/json.hpp>
#include <system_error>

#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/json/json_file.h"

namespace lockstep::volume {

namespace fs = std::filesystem;

fs::path volumes_file(const fs::path& run_dir) { return run_dir / "recipe" / "volumes.json"; }

std::optional<PreparedVolumes> volumes_of_run(const fs::path& run_dir) {
  std::error_code ignored;
  if (run_dir.empty() || !fs::exists(volumes_file(run_dir), ignored)) return std::nullopt;
  return read_prepared(volumes_file(run_dir));
}

nlohmann::json extra_of_run(const fs::path& run_dir) {
  std::error_code ignored;
  if (run_dir.empty() || !fs::exists(run_dir / "run.json", ignored)) return nullptr;
  const nlohmann::json record = parse_json(read_file(run_dir / "run.json"));
  if (!record.is_object() || !record.contains("extra") || !record["extra"].is_object())
    return nullptr;
  return record["extra"];
}

void forget_places(nlohmann::json& extra, std::map<std::string, std::string>& kept) {
  if (extra.is_object()) extra.erase("volumes");
  const auto file = kept.find("volumes.json");
  if (file == kept.end()) return;
  nlohmann::json record = parse_json(file->second);
  if (!record.is_object()) return;
  for (const char* set : {"train", "valid"})
    for (nlohmann::json& entry : record[set])  // the name alone identifies a file in the cache
      for (const char* key : {"cached", "image", "label"})
        if (entry.is_object() && entry.contains(key) && entry[key].is_string())
          entry[key] = fs::path(entry[key].get<std::string>()).filename().string();
  file->second = json_file_text(record);
}

bool is_made_run(const fs::path& run_dir) {
  const nlohmann::json extra = extra_of_run(run_dir);
  return extra.is_object() && extra.contains("made") && extra["made"] == true;
}

}  // namespace lockstep::volume
