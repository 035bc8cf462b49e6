// Reads and writes the result of preparation as JSON.
#include "recipes/volume/voxels/prepared_volumes.h"

#include <array>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/json/json_file.h"
#include "core/base/text/text.h"
#include "recipes/volume/voxels/cached_layout.h"

namespace lockstep::volume {
namespace {

using nlohmann::json;

constexpr int prepared_version = 1;

json to_json(const VolumeEntry& entry) {
  const VolumeShape& shape = entry.shape;
  json whole{{"id", entry.id},
             {"cached", entry.cached.string()},
             {"image", entry.image.string()},
             {"label", entry.label.string()},
             {"begin", entry.begin},
             {"end", entry.end},
             {"shape", {shape.channels, shape.depth, shape.height, shape.width}}};
  if (entry.part) whole["part"] = {entry.part->axis, entry.part->begin, entry.part->end};
  return whole;
}

VolumeEntry entry_from(const json& json) {
  const auto extents = json.at("shape").get<std::array<std::int64_t, 4>>();
  VolumeEntry entry{
      .id = json.at("id"),
      .cached = json.at("cached").get<std::string>(),
      .image = json.at("image").get<std::string>(),
      .label = json.at("label").get<std::string>(),
      .begin = json.at("begin"),
      .end = json.at("end"),
      .shape = {
          .depth = extents[1], .height = extents[2], .width = extents[3], .channels = extents[0]}};
  if (json.contains("part")) {
    const auto [axis, begin, end] = json.at("part").get<std::array<std::int64_t, 3>>();
    if (axis < 1 || axis > 2) throw Error("it names an axis that is none");
    entry.part = VolumePart{axis, begin, end};
  }
  return entry;
}

json to_json(const std::vector<VolumeEntry>& entries) {
  json all = json::array();
  for (const VolumeEntry& entry : entries) all.push_back(to_json(entry));
  return all;
}

std::vector<VolumeEntry> entries_from(const json& json) {
  std::vector<VolumeEntry> entries;
  for (const auto& entry : json) entries.push_back(entry_from(entry));
  return entries;
}

PreparedVolumes volumes_from(const json& json) {
  if (json.at("version") != prepared_version) throw Error("it is of another version");
  return {.train = entries_from(json.at("train")),
          .valid = entries_from(json.at("valid")),
          .channels = json.at("channels"),
          .type = cached_type(json.at("type")),
          .normalization = normalization_from_json(json.at("normalization"))};
}

}  // namespace

void write_prepared(const std::filesystem::path& path, const PreparedVolumes& volumes) {
  const json whole{
      {"version", prepared_version},     {"train", to_json(volumes.train)},
      {"valid", to_json(volumes.valid)}, {"channels", volumes.channels},
      {"type", name_of(volumes.type)},   {"normalization", to_json(volumes.normalization)}};
  write_file_atomic(path, json_file_text(whole));
}

PreparedVolumes read_prepared(const std::filesystem::path& path) {
  const auto fail = [&](const char* why) -> Error {
    return Error(cat(path.string(), ", which says what volumes were prepared, is damaged: ", why),
                 "restore the run's folder recipe, or start a new run");
  };
  const json whole = parse_json(read_file(path, list_bytes));
  if (!whole.is_object()) throw fail("it is no JSON");
  try {
    return volumes_from(whole);
  } catch (const json::exception& error) {
    throw fail(error.what());
  } catch (const Error& error) {
    throw fail(error.what());
  }
}

}  // namespace lockstep::volume
