// Lists the files of a corpus.
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
  // The path relative to the folder that the user named, or the file's own name if the user named
  // the file. So `name` is the same on every machine.
  std::string name;
  std::int64_t bytes = 0;  // size of the file on disk, which may be compressed
  std::int64_t modified_ns = 0;
  // Whether each line of the text is a document. This depends on the ending of the name, before .gz
  // or .zst: .jsonl, .ndjson or .json. Any other file is one document.
  bool jsonl = false;
  // Whether the ending is .json. If such a file is a list, each element becomes a line
  // (TextSource).
  bool json = false;
  // Whether the user named the file itself, and not its folder. If so, the file must be text. A
  // file of a folder that is not text is skipped.
  bool named = false;
  // The number of bytes of the text from TextSource. It is 0 until look_through() has examined the
  // file.
  std::int64_t text_bytes = 0;
};

// Lists the files that `paths` name. A path may be a file, a folder or a glob. A folder stands for
// all files below it that are neither hidden nor empty, sorted by name. A file that several paths
// name is listed once. Throws Error, which names `option`, if a path does not exist or is an empty
// file. Also throws Error if a folder or glob has no files.
std::vector<SourceFile> list_files(std::span<const std::string> paths, const std::string& option);

// Returns a note for the user if one of the files is a table (.csv, .tsv). The note says that all
// of the table is read as text, and how to read the text of one column only. Returns an empty text
// if no file is a table.
std::string note_on_tables(std::span<const SourceFile> files);

// Returns the text file that comes with Lockstep, share/lockstep/textgen/tinyshakespeare.txt. In a
// build, share is in the folder of the programs. In an installed tree, share is beside that folder.
// Throws Error if neither folder has the file.
std::vector<SourceFile> default_corpus(const std::filesystem::path& programs = program_folder());

}  // namespace lockstep::textgen
