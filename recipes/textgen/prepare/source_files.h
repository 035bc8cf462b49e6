// Finds the files of a corpus.
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
  // relative to the folder that the user named, so the same on every machine
  std::string name;
  std::int64_t bytes = 0;  // size of the file, which may be packed
  std::int64_t modified_ns = 0;
  // Judged by the name without .gz or .zst. jsonl: a document per line (.jsonl, .ndjson); otherwise
  // the file is one document.
  bool jsonl = false;
  bool json = false;  // .json: as jsonl; if it is a list, each element becomes a line (TextSource)
  bool named =
      false;  // named itself, so it must be text; files found in folders may be something else
  // size of the text from TextSource; known after the file was examined
  std::int64_t text_bytes = 0;
};

// Lists files, folders (everything below them except hidden files) and globs, each sorted by name,
// without repetition. Errors name `option`. Throws Error if something is absent or empty.
std::vector<SourceFile> list_files(std::span<const std::string> paths, const std::string& option);

// A note for tables (.csv, .tsv) among the files: they are read as plain text; it says how to read
// only the text of a column. Empty if there are no tables.
std::string note_on_tables(std::span<const SourceFile> files);

// The text that comes with Lockstep (recipes/textgen/data),
// share/lockstep/textgen/tinyshakespeare.txt. It is looked for in the folder of the program, as in
// a build, and beside that folder, as in an installed tree. Throws Error if it is in neither place.
std::vector<SourceFile> default_corpus(const std::filesystem::path& programs = program_folder());

}  // namespace lockstep::textgen
