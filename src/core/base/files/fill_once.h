// Fills a folder of the cache once, whole or not at all, however many processes ask at the same
// time.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace lockstep {

// Returns ROOT/KEY. If the folder is absent or `good` rejects it, `fill` makes it under another
// name. Then it is synced and renamed. A lock makes other processes wait. Each of them calls its
// `waiting` once. Throws Error, and whatever `fill` throws. In both cases nothing is left behind.
std::filesystem::path fill_once(const std::filesystem::path& root, const std::string& key,
                                const std::function<bool(const std::filesystem::path&)>& good,
                                const std::function<void(const std::filesystem::path&)>& fill,
                                const std::function<void()>& waiting);

}  // namespace lockstep
