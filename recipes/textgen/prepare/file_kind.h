// What a file is that is no text, by how it begins.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::textgen {

// So many bytes tell it.
inline constexpr std::size_t kind_bytes = 512;

struct FileKind {
  std::string name;    // "is a Parquet file"
  std::string remedy;  // what makes text of it
};

// `head`: how the file begins, unpacked. None for what may be text in UTF-8; whether it is, and
// what other files are, is left open.
std::optional<FileKind> kind_that_is_no_text(std::string_view head,
                                             const std::filesystem::path& path);

}  // namespace lockstep::textgen
