// Locks a file in the cache folder, so that only one process at a time makes a cached file.
#pragma once

#include <filesystem>
#include <functional>

#include "core/base/files/fd.h"

namespace lockstep {

// Waits for the lock and returns the file's descriptor. The lock is released when the descriptor is
// closed. Makes the file if it is missing; its folder must exist. If another process holds the
// lock, calls `waiting` once before it waits. Throws Error if the file cannot be opened or locked.
UniqueFd lock_file(const std::filesystem::path& path, const std::function<void()>& waiting);

}  // namespace lockstep
