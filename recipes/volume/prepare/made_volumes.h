// The small data set for users who name no data.
#pragma once

#include <filesystem>

#include "recipes/volume/prepare/find/find_volumes.h"

namespace lockstep::volume {

inline constexpr std::int64_t made_train_volumes = 8, made_test_volumes = 2;

// Returns cache_dir/made-volumes, with the layout of the competition's data: train_images,
// train_labels, train.csv, and the same for test. Volumes have 64 x 80 x 80 bytes: curved sheets
// and blobs (foreground, 1) in clouds and noise. A band along one side has labels to be ignored
// (2). The bytes are the same each time. Creates the folder if it is absent; two processes may do
// this at once. Throws Error.
std::filesystem::path made_volumes(const std::filesystem::path& cache_dir, const Say& say);

}  // namespace lockstep::volume
