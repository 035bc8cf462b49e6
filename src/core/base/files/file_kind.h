// Recognises files that are not UTF-8 text by their first bytes, for messages.
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
  spreadsheet,  // .xlsx, .ods, or .xls of an old Excel
  document,     // made by a word processor
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
  std::string encoding;  // for wide text: the name of its encoding in iconv
};

// Bytes at the beginning of a file that suffice to recognise it.
inline constexpr std::size_t file_kind_bytes = 512;

// head: the beginning of the file, at least file_kind_bytes or all there is. path: its ending tells
// spreadsheets and documents, which are zip archives, from other archives. Returns nothing for a
// file that may be UTF-8 text, and does not check whether it is.
std::optional<FileKind> kind_of_file(std::string_view head, const std::filesystem::path& path);

enum class TextForm { csv, csv_with_index, json_lines };

// Returns a hint that says how to get UTF-8 text of the given form from such a file.
// csv_with_index: the pandas index, for instance times, becomes a column. name: the file's name.
// The hint leaves it out if a shell or Python would misread it.
std::string text_remedy(const FileKind& kind, const std::string& name, TextForm form);

// Throws Error if the file is certainly not text. The hint says how to convert it to CSV. text: the
// whole file, or at least file_kind_bytes of it.
void refuse_no_csv(std::string_view text, const std::string& name, TextForm form = TextForm::csv);

}  // namespace lockstep
