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

// Returns the reason why the key is not an option here, for example because another recipe has it.
// Nothing if the key is unknown. value: its value as typed.
using ExplainKey =
    std::function<std::optional<Error>(std::string_view key, const std::string& value)>;

// Like apply_config of core/config/options.h. For an unknown key, it throws the Error that
// `explain` returns, with the place added. If `explain` returns nothing, it throws the usual Error.
void apply_config(std::span<OptionTable* const> tables,
                  std::span<const std::filesystem::path> files,
                  std::span<const std::string> assignments, const ExplainKey& explain);

}  // namespace lockstep
