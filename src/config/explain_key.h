// What a caller knows of keys that none of its tables has.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "config/options.h"

namespace lockstep {

// Why the key is no option here, such as that it is one of another recipe; nothing if it is simply
// unknown. value: what it was given, as typed.
using ExplainKey =
    std::function<std::optional<Error>(std::string_view key, const std::string& value)>;

// As apply_config of config/options.h; an unknown key is the error of `explain` where that has one,
// with the place added.
void apply_config(std::span<OptionTable* const> tables,
                  std::span<const std::filesystem::path> files,
                  std::span<const std::string> assignments, const ExplainKey& explain);

}  // namespace lockstep
