// A folder of the cache that is filled once, whole or not at all, however many ask for it at once.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace lockstep {

// Returns ROOT/KEY. If it is not there or `good` says no, it is made under another name by `fill`,
// synced and renamed, while a lock keeps others waiting (`waiting` is called once then). Throws
// Error, and what `fill` throws; then nothing is left behind.
std::filesystem::path fill_once(const std::filesystem::path& root, const std::string& key,
                                const std::function<bool(const std::filesystem::path&)>& good,
                                const std::function<void(const std::filesystem::path&)>& fill,
                                const std::function<void()>& waiting);

}  // namespace lockstep
