// What a file is that is no log, by how it begins: for messages.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

struct NoLog {
  std::string kind;    // "a gzip archive", "empty", "JSON"
  std::string remedy;  // empty where none is known
};

// None: it may be a log as text. head: at least 4 KiB, or all there is.
std::optional<NoLog> no_log_as_text(std::string_view head, const std::filesystem::path& path);

}  // namespace lockstep
