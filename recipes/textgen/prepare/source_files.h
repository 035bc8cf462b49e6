// Which files a corpus is made of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/program.h"

namespace lockstep::textgen {

struct SourceFile {
  std::filesystem::path path;  // absolute
  std::string name;            // the same on every machine: relative to the folder that was named
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0;
  bool jsonl = false;  // .jsonl or .ndjson: a document a line; else the file is one document
  bool named =
      false;  // named itself, so it must be text; files found in folders may be something else
};

// Files, folders (all below them, hidden ones left out) and globs, each sorted by name, none twice.
// `option` is named in errors. Throws Error if something is absent or empty.
std::vector<SourceFile> list_files(std::span<const std::string> paths, const std::string& option);

// The text that comes along (recipes/textgen/data): share/lockstep/textgen/tinyshakespeare.txt in
// the folder of the program, as in a build, or beside it, as in an installed tree. Throws Error
// where it is in neither.
std::vector<SourceFile> default_corpus(const std::filesystem::path& programs = program_folder());

}  // namespace lockstep::textgen
