// Recognises, by their first bytes, files that are not text logs. Messages name the kind of such a
// file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

struct NoLog {
  std::string kind;    // such as "a gzip archive", "empty" or "JSON"
  std::string remedy;  // advice for the user; empty if there is none
};

// Returns nothing if the file may be a text log. head: the first 4 KiB or more, or the whole file.
std::optional<NoLog> no_log_as_text(std::string_view head, const std::filesystem::path& path);

}  // namespace lockstep
