// Names of checkpoint folders, also while they are being written or replaced.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/files/beneath.h"

namespace lockstep {

inline constexpr const char* temporary_prefix = ".tmp-";  // being written, or being deleted
inline constexpr const char* aside_prefix = ".old-";      // being replaced

std::string checkpoint_name(std::int64_t step);              // "step-000001234"
std::optional<std::int64_t> step_of(std::string_view name);  // accepts exactly such a name

bool is_file_of_checkpoint(const std::string& name);  // whether a writer gives its files this name

// Renames the folder `from` to `to`. If `to` exists and the file system can exchange names, `to`
// becomes `from` atomically. Otherwise `to` is briefly called `aside`, then removed. Throws Error.
// exchange = false: behaves as on a file system that cannot exchange names.
void replace_directory(const Beneath& run, const std::filesystem::path& from,
                       const std::filesystem::path& to, const std::filesystem::path& aside,
                       bool exchange = true);

}  // namespace lockstep
