// A lock on a file of the cache. It is released when the returned descriptor is destroyed.
#pragma once

#include <filesystem>
#include <functional>

#include "core/base/files/fd.h"

namespace lockstep {

// Makes the file if it is missing; its folder must exist. Calls `waiting` once if another process
// holds the lock. Throws Error.
UniqueFd lock_file(const std::filesystem::path& path, const std::function<void()>& waiting);

}  // namespace lockstep
