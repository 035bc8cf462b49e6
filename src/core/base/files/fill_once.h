// Fills a folder of the cache once, completely or not at all, even if several processes need it at
// the same time.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace lockstep {

// Returns ROOT/KEY. If the folder is missing or `good` rejects it, `fill` makes it under another
// name. It is then synced and renamed. A lock makes other processes wait, and each of them calls
// its `waiting` once. Throws Error, and passes on whatever `fill` throws. In both cases nothing is
// left.
std::filesystem::path fill_once(const std::filesystem::path& root, const std::string& key,
                                const std::function<bool(const std::filesystem::path&)>& good,
                                const std::function<void(const std::filesystem::path&)>& fill,
                                const std::function<void()>& waiting);

}  // namespace lockstep
