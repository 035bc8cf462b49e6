// Recognizes files that are not UTF-8 text by their first bytes, so that error messages can name
// the format.
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
  spreadsheet,  // .xlsx, .ods, or the old .xls
  document,     // a file of a word processor
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
  std::string encoding;  // for wide_text: the name of the encoding in iconv
};

// This many bytes at the beginning of a file are enough to recognize it.
inline constexpr std::size_t file_kind_bytes = 512;

// Returns the kind of a file. Returns nothing for a file that may be UTF-8 text; it is not checked
// whether it is valid UTF-8. head: at least the first file_kind_bytes of the file, or the whole
// file if it is shorter. path: only its suffix is used, to distinguish spreadsheets and documents,
// which are zip archives, from other archives.
std::optional<FileKind> kind_of_file(std::string_view head, const std::filesystem::path& path);

enum class TextForm { csv, csv_with_index, json_lines };

// Returns a hint on how to convert a file of this kind to UTF-8 text in the given form. If the form
// is csv_with_index, the index of a pandas table, such as times, becomes a column. name: the file's
// name. The hint leaves the name out if a shell or Python would misread it.
std::string text_remedy(const FileKind& kind, const std::string& name, TextForm form);

// Throws Error if kind_of_file recognizes the file, which is then not CSV. The hint is the
// text_remedy. text: the whole file, or at least its first file_kind_bytes. name: the file's name.
void refuse_no_csv(std::string_view text, const std::string& name, TextForm form = TextForm::csv);

}  // namespace lockstep
