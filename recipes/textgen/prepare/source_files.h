// Which files a corpus is made of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/base/process/program.h"

namespace lockstep::textgen {

struct SourceFile {
  std::filesystem::path path;  // absolute
  std::string name;            // the same on every machine: relative to the folder that was named
  std::int64_t bytes = 0;      // of the file, which may be packed
  std::int64_t modified_ns = 0;
  // By the name without .gz or .zst. jsonl: a document a line (.jsonl, .ndjson); else the file is
  // one document.
  bool jsonl = false;
  bool json = false;  // .json: as jsonl; a list is read as lines, an element each (TextSource)
  bool named =
      false;  // named itself, so it must be text; files found in folders may be something else
  std::int64_t text_bytes = 0;  // of what TextSource gives; known once it was looked through
};

// Files, folders (all below them, hidden ones left out) and globs, each sorted by name, none twice.
// `option` is named in errors. Throws Error if something is absent or empty.
std::vector<SourceFile> list_files(std::span<const std::string> paths, const std::string& option);

// How to read the text in a column of the tables (.csv, .tsv) among the files, which are read as
// they are. Empty if there are none.
std::string note_on_tables(std::span<const SourceFile> files);

// The text that comes with Lockstep (recipes/textgen/data),
// share/lockstep/textgen/tinyshakespeare.txt. It is searched for in the folder of the program, as
// in a build, and beside that folder, as in an installed tree. Throws Error if it is in neither.
std::vector<SourceFile> default_corpus(const std::filesystem::path& programs = program_folder());

}  // namespace lockstep::textgen
