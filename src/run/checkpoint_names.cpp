// Names, renames and replaces checkpoint folders.
#include "run/checkpoint_names.h"

#include <fcntl.h>
#include <stdio.h>

#include <cerrno>

#include "base/error.h"
#include "base/text.h"
#include "base/whole_number.h"

namespace lockstep {
namespace fs = std::filesystem;
namespace {

void rename_or_throw(const fs::path& from, const fs::path& to) {
  if (rename(from.c_str(), to.c_str()) != 0)
    throw Error(cat("cannot rename ", from.string(), " to ", to.string(), ": ", errno_text(errno)));
}

}  // namespace

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

void replace_directory(const fs::path& from, const fs::path& to, const fs::path& aside,
                       bool exchange) {
  std::error_code error;
  if (fs::symlink_status(to, error).type() == fs::file_type::not_found)
    return rename_or_throw(from, to);
  if (exchange && renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0)
    return;
  fs::remove_all(aside, error);
  rename_or_throw(to, aside);
  if (rename(from.c_str(), to.c_str()) != 0) {
    const int reason = errno;
    rename(aside.c_str(), to.c_str());
    throw Error(cat("cannot rename ", from.string(), ": ", errno_text(reason)));
  }
  fs::remove_all(aside, error);
}

}  // namespace lockstep
