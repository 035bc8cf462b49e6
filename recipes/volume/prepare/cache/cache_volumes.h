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
// name of a cached file is a hash. It covers the contents of the source files, and the options that
// affect the cached content. If the cache lacks files, their pairs are decoded on all cores.
// Several processes may call this at once. If the disk or the size limit leaves no room, throws
// Error before anything is decoded. If pairs cannot be decoded, throws the Error of the first of
// them.
std::vector<std::filesystem::path> cache_volumes(const std::vector<Pair>& pairs,
                                                 const DecodeOptions& how,
                                                 const std::filesystem::path& folder,
                                                 const CacheLimits& limits, const Say& say);

}  // namespace lockstep::volume
