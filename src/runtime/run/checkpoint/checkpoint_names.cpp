// Names, renames and replaces checkpoint folders.
#include "runtime/run/checkpoint/checkpoint_names.h"

#include <stdio.h>

#include <cerrno>

#include "core/base/whole_number.h"
#include "runtime/run/checkpoint/manifest.h"

namespace lockstep {
namespace fs = std::filesystem;
std::string checkpoint_name(std::int64_t step) {
  const std::string digits = std::to_string(step);
  return "step-" + std::string(digits.size() < 9 ? 9 - digits.size() : 0, '0') + digits;
}

std::optional<std::int64_t> step_of(std::string_view name) {
  constexpr std::string_view prefix = "step-";
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto step = whole_number(name.substr(prefix.size()));
  return step && checkpoint_name(*step) == name ? step : std::nullopt;
}

bool is_file_of_checkpoint(const std::string& name) {
  return name == manifest_name || name == "state.json" || name.ends_with(".safetensors");
}

void replace_directory(const Beneath& run, const fs::path& from, const fs::path& to,
                       const fs::path& aside, bool exchange) {
  if (!run.status(to)) {
    if (!run.rename(from, to)) run.fail("write", to, errno);
    return;
  }
  if (exchange && run.rename(from, to, RENAME_EXCHANGE)) return;
  run.remove_folder(aside);
  if (!run.rename(to, aside)) run.fail("replace", to, errno);
  if (!run.rename(from, to)) {
    const int reason = errno;
    run.rename(aside, to);
    run.fail("write", to, reason);
  }
  run.remove_folder(aside);
}

}  // namespace lockstep
