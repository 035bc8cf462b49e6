// Names of checkpoint folders. While a folder is written, deleted or replaced, its name has a
// prefix.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/files/beneath.h"

namespace lockstep {

inline constexpr const char* temporary_prefix = ".tmp-";  // the folder is being written or deleted
inline constexpr const char* aside_prefix = ".old-";      // the folder is being replaced

std::string checkpoint_name(std::int64_t step);              // "step-000001234"
std::optional<std::int64_t> step_of(std::string_view name);  // nothing if the name has another form

// Whether a checkpoint can have a file of this name.
bool is_file_of_checkpoint(const std::string& name);

// Renames the folder `from` to `to`, and replaces an older folder named `to`. If the file system
// can exchange names, this is atomic, and the older folder is then named `from`. If it cannot, the
// older folder is first renamed to `aside`, and removed at the end. Throws Error if a rename fails.
// exchange: if false, behaves as on a file system that cannot exchange names.
void replace_directory(const Beneath& run, const std::filesystem::path& from,
                       const std::filesystem::path& to, const std::filesystem::path& aside,
                       bool exchange = true);

}  // namespace lockstep
