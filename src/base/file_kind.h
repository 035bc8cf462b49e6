// What a file is that is no text in UTF-8, by how it begins: for messages.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

enum class FileFormat {
  gzip,
  zstd,
  xz,
  bzip2,
  lz4,
  seven_zip,
  rar,
  tar,
  zip,
  spreadsheet,  // .xlsx, .ods, of an old Excel .xls
  document,     // of a word processor
  e_book,
  pdf,
  parquet,
  arrow,
  arrow_stream,
  sqlite,
  hdf5,
  numpy,
  pickle,
  safetensors,
  picture,
  program,
  lfs_pointer,
  wide_text,  // UTF-16 or UTF-32
};

struct FileKind {
  FileFormat format;
  std::string name;      // "a Parquet file", "text in UTF-16LE"
  std::string encoding;  // of wide text, as iconv names it
};

// So many bytes tell it.
inline constexpr std::size_t file_kind_bytes = 512;

// head: how the file begins, at least file_kind_bytes of it or all there is. path: tells
// spreadsheets and documents, which are zip archives, from others. None for what may be text in
// UTF-8; whether it is, is left open.
std::optional<FileKind> kind_of_file(std::string_view head, const std::filesystem::path& path);

enum class TextForm { csv, csv_with_index, json_lines };

// What makes text of that form, in UTF-8, of it: for hints. csv_with_index: what pandas calls the
// index is a column, such as times. name: of the file, which stays away where a shell or Python
// would take it for something else.
std::string text_remedy(const FileKind& kind, const std::string& name, TextForm form);

// Throws Error, which says what the file is and what makes CSV of it, if it is known to be no text.
// text: the whole file, or at least file_kind_bytes of it.
void refuse_no_csv(std::string_view text, const std::string& name, TextForm form = TextForm::csv);

}  // namespace lockstep
