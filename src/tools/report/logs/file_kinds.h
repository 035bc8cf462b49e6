// Recognises, by their first bytes, files that are not logs. Used for messages.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

struct NoLog {
  std::string kind;    // "a gzip archive", "empty", "JSON"
  std::string remedy;  // empty if no remedy is known
};

// Nothing if it may be a text log. head: at least 4 KiB, or the whole file.
std::optional<NoLog> no_log_as_text(std::string_view head, const std::filesystem::path& path);

}  // namespace lockstep
