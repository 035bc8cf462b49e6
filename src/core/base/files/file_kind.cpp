#include "core/base/files/file_kind.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/error.h"
#include "core/base/files/lfs_pointer.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  FileFormat format;
  std::string_view name;
};

// Byte sequences with which no text begins.
constexpr std::array signatures{
    Signature{0, "\x1F\x8B"sv, FileFormat::gzip, "a gzip archive"},
    Signature{0, "\x28\xB5\x2F\xFD"sv, FileFormat::zstd, "a zstd archive"},
    Signature{0, "\xFD\x37zXZ"sv, FileFormat::xz, "an xz archive"},
    Signature{4, "\x31\x41\x59\x26\x53\x59"sv, FileFormat::bzip2, "a bzip2 archive"},
    Signature{0, "\x04\x22\x4D\x18"sv, FileFormat::lz4, "an lz4 archive"},
    Signature{0, "7z\xBC\xAF\x27\x1C"sv, FileFormat::seven_zip, "a 7z archive"},
    Signature{0, "Rar!\x1A\x07"sv, FileFormat::rar, "a rar archive"},
    Signature{257, "ustar"sv, FileFormat::tar, "a tar archive"},
    Signature{0, "%PDF"sv, FileFormat::pdf, "a PDF"},
    Signature{0, "PAR1"sv, FileFormat::parquet, "a Parquet file"},
    Signature{0, "ARROW1"sv, FileFormat::arrow, "an Arrow file"},
    Signature{0, "\xFF\xFF\xFF\xFF"sv, FileFormat::arrow_stream, "an Arrow stream"},
    Signature{0, "SQLite format 3"sv, FileFormat::sqlite, "an SQLite database"},
    Signature{0, "\x89HDF"sv, FileFormat::hdf5, "an HDF5 file"},
    Signature{0, "\x93NUMPY"sv, FileFormat::numpy, "a NumPy array"},
    Signature{0, "\x80\x02"sv, FileFormat::pickle, "a pickle of Python"},
    Signature{0, "\x80\x03"sv, FileFormat::pickle, "a pickle of Python"},
    Signature{0, "\x80\x04"sv, FileFormat::pickle, "a pickle of Python"},
    Signature{0, "\x80\x05"sv, FileFormat::pickle, "a pickle of Python"},
    Signature{0, "\x89PNG"sv, FileFormat::picture, "a PNG picture"},
    Signature{0, "\xFF\xD8\xFF"sv, FileFormat::picture, "a JPEG picture"},
    Signature{0, "\x7F\x45LF"sv, FileFormat::program, "a program"},
};

std::string lower_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return std::tolower(c); });
  return extension;
}

FileKind zip_kind(const std::filesystem::path& path) {
  const std::string extension = lower_extension(path);
  if (extension == ".xlsx" || extension == ".xlsm" || extension == ".ods")
    return {FileFormat::spreadsheet, "a spreadsheet", ""};
  if (extension == ".docx" || extension == ".odt")
    return {FileFormat::document, "a document of a word processor", ""};
  if (extension == ".epub") return {FileFormat::e_book, "an e-book (EPUB)", ""};
  return {FileFormat::zip, "a zip archive", ""};
}

// The format of Word and Excel before they used zip archives.
FileKind old_office_kind(const std::filesystem::path& path) {
  if (lower_extension(path) == ".xls")
    return {FileFormat::spreadsheet, "a spreadsheet of an old Excel", ""};
  return {FileFormat::document, "a document of an old Office", ""};
}

// The encoding in iconv's spelling, if it is UTF-16 or UTF-32. Empty for other encodings. A byte
// order mark shows it, or NUL bytes of ASCII letters do, because other text has none. Without a
// mark, at least eight bytes are needed.
std::string_view wide_encoding(std::string_view head) {
  if (head.starts_with("\xFF\xFE\0\0"sv) || head.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) return "UTF-16";
  head = head.substr(0, head.size() / 4 * 4);
  if (head.size() < 8) return {};
  std::array<std::size_t, 4> nuls{};
  for (std::size_t i = 0; i < head.size(); ++i) nuls[i % 4] += head[i] == '\0';
  const std::size_t quarter = head.size() / 4;
  const auto most = [&](std::size_t place) { return nuls[place] * 10 >= quarter * 9; };
  const auto few = [&](std::size_t place) { return nuls[place] * 10 <= quarter; };
  if (most(2) && most(3) && few(0)) return "UTF-32LE";
  if (most(0) && most(1) && few(3)) return "UTF-32BE";
  const std::size_t even = nuls[0] + nuls[2], odd = nuls[1] + nuls[3];
  // In UTF-16, at least a third of the characters must be ASCII, and few others end in a zero byte.
  const auto wide = [&](std::size_t high, std::size_t low) {
    return high * 3 >= 2 * quarter && low * 10 <= high;
  };
  if (wide(odd, even)) return "UTF-16LE";
  if (wide(even, odd)) return "UTF-16BE";
  return {};
}

// Whether a safetensors header follows: its length in eight bytes, and then JSON.
bool begins_as_safetensors(std::string_view head) {
  return head.size() > 8 && head[8] == '{' && head.substr(4, 4) == "\0\0\0\0"sv;
}

// The extension of the unpacked file: ".csv" for "a.csv.gz", and also for a packed file named
// "a.csv".
std::string unpacked_extension(const std::filesystem::path& path) {
  constexpr std::array packed{".gz"sv, ".zst"sv, ".xz"sv, ".bz2"sv, ".lz4"sv, ".lzma"sv};
  const std::string extension = lower_extension(path);
  const bool is_packed = std::ranges::find(packed, extension) != packed.end();
  return (is_packed ? path.stem() : path).extension().string();
}

}  // namespace

std::optional<FileKind> kind_of_file(std::string_view head, const std::filesystem::path& path) {
  if (head.starts_with("PK\3\4"sv)) return zip_kind(path);
  if (head.starts_with("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv)) return old_office_kind(path);
  for (const Signature& signature : signatures)
    if (head.size() > signature.offset &&
        head.substr(signature.offset).starts_with(signature.bytes))
      return FileKind{signature.format, std::string(signature.name), ""};
  if (begins_as_lfs_pointer(head))
    return FileKind{FileFormat::lfs_pointer, "a pointer of Git LFS", ""};
  if (begins_as_safetensors(head))
    return FileKind{FileFormat::safetensors, "a safetensors file", ""};
  if (const std::string_view encoding = wide_encoding(head.substr(0, file_kind_bytes));
      !encoding.empty())
    return FileKind{FileFormat::wide_text, cat("text in ", encoding), std::string(encoding)};
  return std::nullopt;
}

std::string text_remedy(const FileKind& kind, const std::string& name, TextForm form) {
  const bool csv = form != TextForm::json_lines;
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
  const bool is_plain = !name.starts_with('-') && name.find_first_not_of(plain) == name.npos;
  const std::string file = is_plain ? name : "FILE";
  const auto with_python = [&](const char* read) {
    return cat("make ", csv ? "CSV" : "JSON lines", " of it, in Python: ", read, "(\"", file,
               "\").",
               form == TextForm::csv_with_index ? "to_csv(\"NEW.csv\")"
               : csv                            ? "to_csv(\"NEW.csv\", index=False)"
                     : "to_json(\"NEW.jsonl\", orient=\"records\", lines=True)");
  };
  // With -c, these programs write to stdout, which goes to a new file. Without -c, they refuse
  // names that lack their own ending.
  const auto unpack = [&](const char* command) {
    return cat("unpack it, and name what comes out: ", command, " ", file, " > NEW",
               is_plain ? unpacked_extension(name) : "");
  };
  switch (kind.format) {
    case FileFormat::gzip:
      return unpack("gunzip -c");
    case FileFormat::zstd:
      return unpack("zstd -dc");
    case FileFormat::xz:
      return unpack("xz -dc");
    case FileFormat::bzip2:
      return unpack("bzip2 -dc");
    case FileFormat::lz4:
      return unpack("lz4 -dc");
    case FileFormat::tar:
      return cat("unpack it, and name what comes out: tar -xvf ", file);
    case FileFormat::zip:
      return cat("unpack it, and name what comes out: unzip ", file);
    case FileFormat::seven_zip:
    case FileFormat::rar:
      return "unpack it, and name what comes out";
    case FileFormat::spreadsheet:
      return cat("save it as ", csv ? "CSV" : "plain text",
                 " in UTF-8, with the program that made it");
    case FileFormat::document:
    case FileFormat::e_book:
      return "save it as plain text in UTF-8, or make text of it: pandoc FILE -t plain -o NEW.txt";
    case FileFormat::pdf:
      return "make text of it: pdftotext FILE NEW.txt";
    case FileFormat::parquet:
      return with_python("pandas.read_parquet");
    case FileFormat::arrow:
      return with_python("pandas.read_feather");
    case FileFormat::arrow_stream:
      return with_python("datasets.Dataset.from_file");
    case FileFormat::lfs_pointer:
      return "git lfs pull fetches the file itself";
    case FileFormat::wide_text:
      return cat("make UTF-8 of it: iconv -f ", kind.encoding, " -t UTF-8 ", file, " > NEW",
                 is_plain ? std::filesystem::path(name).extension().string() : "");
    default:
      return cat("write what it holds as ", csv ? "CSV" : "JSON lines",
                 ", with the program that made it");
  }
}

void refuse_no_csv(std::string_view text, const std::string& name, TextForm form) {
  if (const auto kind = kind_of_file(text.substr(0, file_kind_bytes), name))
    throw Error(cat(name, " is ", kind->name, ", but must be CSV in UTF-8"),
                text_remedy(*kind, name, form));
}

}  // namespace lockstep
