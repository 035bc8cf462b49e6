// How the folders of checkpoints are called, also while they are being written or replaced.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/beneath.h"

namespace lockstep {

inline constexpr const char* temporary_prefix = ".tmp-";  // being written, or being deleted
inline constexpr const char* aside_prefix = ".old-";      // being replaced

std::string checkpoint_name(std::int64_t step);              // "step-000001234"
std::optional<std::int64_t> step_of(std::string_view name);  // exactly such a name

bool is_file_of_checkpoint(const std::string& name);  // that a writer gives its files

// Gives the folder `from` the name `to`. If `to` exists it becomes `from` at the same moment where
// the file system can exchange names; else it is called `aside` for the moment between, and
// removed. Throws Error. exchange = false: as on a file system that cannot.
void replace_directory(const Beneath& run, const std::filesystem::path& from,
                       const std::filesystem::path& to, const std::filesystem::path& aside,
                       bool exchange = true);

}  // namespace lockstep
