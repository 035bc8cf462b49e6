// The small data set for those who name none.
#pragma once

#include <filesystem>

#include "recipes/volume/prepare/find/find_volumes.h"

namespace lockstep::volume {

inline constexpr std::int64_t made_train_volumes = 8, made_test_volumes = 2;

// cache_dir/made-volumes, laid out as the competition's data is: train_images, train_labels,
// train.csv, and the same for test. Volumes of 64 x 80 x 80 bytes: curved sheets and blobs
// (foreground, 1) in clouds and noise, with a band along one side whose labels are to be ignored
// (2). The same bytes each time. Made if it is absent; two processes at once are safe. Throws
// Error.
std::filesystem::path made_volumes(const std::filesystem::path& cache_dir, const Say& say);

}  // namespace lockstep::volume
