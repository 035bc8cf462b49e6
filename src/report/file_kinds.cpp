#include "report/file_kinds.h"

#include "base/text.h"

namespace lockstep {
namespace {

struct FileStart {
  std::string_view bytes;
  const char* kind;
};

using namespace std::string_view_literals;

constexpr FileStart file_starts[] = {
    {"\x1f\x8b"sv, "a gzip archive"},
    {"\x28\xb5\x2f\xfd"sv, "a zstd archive"},
    {"\xfd"
     "7zXZ"sv,
     "an xz archive"},
    {"PK\x03\x04"sv, "a zip archive (as are .xlsx files and what torch.save writes)"},
    {"PAR1"sv, "a Parquet file"},
    {"SQLite format 3"sv, "an SQLite database"},
    {"\x89PNG"sv, "a PNG picture"},
    {"\xff\xd8\xff"sv, "a JPEG picture"},
    {"%PDF"sv, "a PDF document"},
    {"\x89HDF"sv, "an HDF5 file"},
    {"\x93NUMPY"sv, "a NumPy array"},
    {"\x7f"
     "ELF"sv,
     "a program"},
    {"\x80\x02"sv, "a pickle"},
    {"\x80\x04"sv, "a pickle"},
    {"\xff\xfe"sv, "text in UTF-16 (iconv -f UTF-16 -t UTF-8 makes UTF-8 of it)"},
    {"\xfe\xff"sv, "text in UTF-16 (iconv -f UTF-16 -t UTF-8 makes UTF-8 of it)"},
    {"version https://git-lfs"sv, "a pointer of Git LFS (git lfs pull fetches the file)"},
    {"{"sv, "JSON"},
    {"[{"sv, "JSON"},
    {"[["sv, "JSON"},
    {"[\""sv, "JSON"},
    {"<"sv, "HTML or XML"},
};

}  // namespace

std::string kind_of_no_text(std::string_view head) {
  if (head.empty()) return "empty";
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  for (const FileStart& start : file_starts)
    if (head.starts_with(start.bytes) ||
        (first != head.npos && start.bytes.size() == 1 && head[first] == start.bytes[0]))
      return start.kind;
  // The length of its description in eight bytes, and that description, which is JSON.
  constexpr std::size_t length_bytes = 8;
  if (head.size() > length_bytes && head[length_bytes] == '{' &&
      head.substr(4, 4) == std::string_view("\0\0\0\0", 4))
    return "a safetensors file";
  const std::size_t zero = head.find('\0');
  return zero == head.npos ? "" : cat("no text: byte ", zero + 1, " is NUL");
}

}  // namespace lockstep
