// Decodes pairs of an image and its labels into the cache. A pair that is already in the cache is
// not decoded again.
#pragma once

#include <filesystem>
#include <vector>

#include "recipes/volume/prepare/cache/cache_room.h"
#include "recipes/volume/prepare/cache/decode.h"
#include "recipes/volume/prepare/find/find_volumes.h"

namespace lockstep::volume {

// Returns the cached file of each pair. folder: the cache, which is created if it is absent. The
// name of a file is a hash of the contents of its sources and of the options that affect its
// content. Files that are absent are decoded on all cores. Several processes may call this at once.
// Throws Error before anything is decoded if there is no room. Also throws the Error of the first
// faulty pair.
std::vector<std::filesystem::path> cache_volumes(const std::vector<Pair>& pairs,
                                                 const DecodeOptions& how,
                                                 const std::filesystem::path& folder,
                                                 const CacheLimits& limits, const Say& say);

}  // namespace lockstep::volume
