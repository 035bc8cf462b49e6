// Turns pairs into cached volumes, decoding each pair once.
#pragma once

#include <filesystem>
#include <vector>

#include "recipes/volume/prepare/cache/cache_room.h"
#include "recipes/volume/prepare/cache/decode.h"
#include "recipes/volume/prepare/find/find_volumes.h"

namespace lockstep::volume {

// Returns the cached file of each pair, in `folder`, which is created if it is absent. A file's
// name depends on everything that decides its content: the bytes of both sources, and `how`. Absent
// files are decoded on all cores. Two processes may do this at once. Throws the Error of the first
// faulty pair, or an Error if there is no room; the latter before anything is decoded.
std::vector<std::filesystem::path> cache_volumes(const std::vector<Pair>& pairs,
                                                 const DecodeOptions& how,
                                                 const std::filesystem::path& folder,
                                                 const CacheLimits& limits, const Say& say);

}  // namespace lockstep::volume
