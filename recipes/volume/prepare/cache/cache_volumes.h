// Pairs as cached volumes, each decoded once.
#pragma once

#include <filesystem>
#include <vector>

#include "recipes/volume/prepare/cache/cache_room.h"
#include "recipes/volume/prepare/cache/decode.h"
#include "recipes/volume/prepare/find/find_volumes.h"

namespace lockstep::volume {

// The cached file of each pair, in `folder`, which is made if it is absent. Its name tells
// everything that decides its content: the bytes of both sources and `how`. Absent files are
// decoded on all cores; two processes at once are safe. Throws Error: the first faulty pair's, or
// no room, before anything is decoded.
std::vector<std::filesystem::path> cache_volumes(const std::vector<Pair>& pairs,
                                                 const DecodeOptions& how,
                                                 const std::filesystem::path& folder,
                                                 const CacheLimits& limits, const Say& say);

}  // namespace lockstep::volume
