// A lock on a file of the cache, released when its owner is destroyed.
#pragma once

#include <filesystem>
#include <functional>

#include "core/base/files/fd.h"

namespace lockstep {

// Makes the file if it is absent; its folder must exist. Calls `waiting` once if another process
// holds the lock. Throws Error.
UniqueFd lock_file(const std::filesystem::path& path, const std::function<void()>& waiting);

}  // namespace lockstep
