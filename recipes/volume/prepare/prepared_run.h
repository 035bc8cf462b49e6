// Reads what an existing run recorded about its volumes.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// Returns the path of RUN/recipe/volumes.json.
std::filesystem::path volumes_file(const std::filesystem::path& run_dir);
// Reads that file. Returns nothing if the run has none. Throws Error if it is damaged.
std::optional<PreparedVolumes> volumes_of_run(const std::filesystem::path& run_dir);

// Returns `extra` of RUN/run.json, or null if there is none. An export has this file too.
nlohmann::json extra_of_run(const std::filesystem::path& run_dir);
// Implements RecipeOptions::forget_places.
void forget_places(nlohmann::json& extra, std::map<std::string, std::string>& kept);

// Whether the run was trained on generated data.
bool is_made_run(const std::filesystem::path& run_dir);

}  // namespace lockstep::volume
