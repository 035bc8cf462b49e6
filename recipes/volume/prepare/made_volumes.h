// Generates a small data set. It is used if the options name no data.
#pragma once

#include <filesystem>

#include "recipes/volume/prepare/find/find_volumes.h"

namespace lockstep::volume {

inline constexpr std::int64_t made_train_volumes = 8, made_test_volumes = 2;

// Returns the folder cache_dir/made-volumes, and creates it if it is absent. The folder has the
// layout of the Vesuvius competition's data: train_images, train_labels, train.csv, and the same
// for test. Each volume has 64 x 80 x 80 voxels of u8. The image shows curved sheets and blobs in
// clouds and noise. Sheets and blobs have the label 1, for foreground. A band along one side has
// the label 2, which is ignored. The content is always the same. Several processes may call this at
// once. Throws Error if a file cannot be written. say: receives a message if the volumes are
// generated.
std::filesystem::path made_volumes(const std::filesystem::path& cache_dir, const Say& say);

}  // namespace lockstep::volume
