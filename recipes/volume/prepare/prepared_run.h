// Reads the record of volumes of an existing run.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// RUN/recipe/volumes.json.
std::filesystem::path volumes_file(const std::filesystem::path& run_dir);
// Nothing if the run has none. Throws Error if it is damaged.
std::optional<PreparedVolumes> volumes_of_run(const std::filesystem::path& run_dir);

// `extra` of RUN/run.json, which an export has too; null if there is none.
nlohmann::json extra_of_run(const std::filesystem::path& run_dir);
// Implements RecipeOptions::forget_places.
void forget_places(nlohmann::json& extra, std::map<std::string, std::string>& kept);

// Whether the run was trained on generated data.
bool is_made_run(const std::filesystem::path& run_dir);

}  // namespace lockstep::volume
