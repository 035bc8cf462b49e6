// Lets a caller explain keys that no option table has.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/config/options.h"

namespace lockstep {

// Why the key is not an option here, for instance because another recipe has it. Nothing if the key
// is simply unknown. value: its value as typed.
using ExplainKey =
    std::function<std::optional<Error>(std::string_view key, const std::string& value)>;

// Like apply_config of core/config/options.h. For an unknown key it throws the error that `explain`
// returns, if any, with the place added.
void apply_config(std::span<OptionTable* const> tables,
                  std::span<const std::filesystem::path> files,
                  std::span<const std::string> assignments, const ExplainKey& explain);

}  // namespace lockstep
