// Lets a caller choose the error message for a key that no option table has.
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

// Returns an Error that says why the key is not an option here, for example because another recipe
// has it. Returns nothing if it knows no reason. value: the value of the key, as the user typed it.
using ExplainKey =
    std::function<std::optional<Error>(std::string_view key, const std::string& value)>;

// Like apply_config of core/config/options.h. For an unknown key, throws the Error that `explain`
// returns, with the file and line added. If `explain` returns nothing, throws the same Error as
// that function.
void apply_config(std::span<OptionTable* const> tables,
                  std::span<const std::filesystem::path> files,
                  std::span<const std::string> assignments, const ExplainKey& explain);

}  // namespace lockstep
