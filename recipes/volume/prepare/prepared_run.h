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
// Reads RUN/recipe/volumes.json. Returns no value if the run has no such file. Throws Error if the
// file is damaged.
std::optional<PreparedVolumes> volumes_of_run(const std::filesystem::path& run_dir);

// Returns the member `extra` of RUN/run.json, or null if there is no such file or member. An export
// also has this file.
nlohmann::json extra_of_run(const std::filesystem::path& run_dir);
// Implements RecipeOptions::forget_places.
void forget_places(nlohmann::json& extra, std::map<std::string, std::string>& kept);

// Returns whether the run was trained on generated data (made_volumes.h).
bool is_made_run(const std::filesystem::path& run_dir);

}  // namespace lockstep::volume
