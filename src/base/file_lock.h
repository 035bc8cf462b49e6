// A lock on a file of the cache, which goes with its owner.
#pragma once

#include <filesystem>
#include <functional>

#include "base/fd.h"

namespace lockstep {

// The file is made where it is absent, its folder must be there. Calls `waiting` once where another
// process has the lock. Throws Error.
UniqueFd lock_file(const std::filesystem::path& path, const std::function<void()>& waiting);

}  // namespace lockstep
