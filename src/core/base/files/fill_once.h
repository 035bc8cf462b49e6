// Makes a folder in the cache only once, and completely or not at all, even if several processes
// need it at the same time.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace lockstep {

// Returns the folder ROOT/KEY. If `good` returns false for it, `fill` fills a new folder with a
// temporary name. This folder is then synced, and renamed to ROOT/KEY. A lock makes other processes
// wait in the meantime, and each of them calls its `waiting` once. Throws Error if the folder
// cannot be made, and passes on exceptions of `fill`. After an exception, no incomplete folder is
// left.
std::filesystem::path fill_once(const std::filesystem::path& root, const std::string& key,
                                const std::function<bool(const std::filesystem::path&)>& good,
                                const std::function<void(const std::filesystem::path&)>& fill,
                                const std::function<void()>& waiting);

}  // namespace lockstep
