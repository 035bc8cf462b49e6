#include "core/media/zip_writer.h"

#include <fcntl.h>
#include <minizip/zip.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"

namespace lockstep {
namespace {

constexpr std::size_t piece_bytes = 1 << 20;

bool is_plain_part(std::string_view part) { return !part.empty() && part != "." && part != ".."; }

void check_name(const std::string& name) {
  if (!can_be_in_zip(name))
    throw Error(cat("\"", printable(name), "\" cannot be a name in a zip archive"),
                "it must be a relative path of UTF-8, with / between its parts");
}

}  // namespace

bool can_be_in_zip(const std::string& name) {
  const bool plain =
      !name.empty() && name.size() <= std::numeric_limits<std::uint16_t>::max() &&
      invalid_bytes(name) == 0 && name.find('\\') == name.npos &&
      std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; });
  const std::vector<std::string> parts = split(name, '/');
  return plain && std::all_of(parts.begin(), parts.end(), is_plain_part);
}

ZipWriter::ZipWriter(std::filesystem::path path) : path_(std::move(path)), file_(path_) {
  errno = 0;
  zip_ = zipOpen64(file_.temporary_path().c_str(), APPEND_STATUS_CREATE);
  if (!zip_)
    throw Error(cat("cannot write ", path_.string(), ": ", errno_text(errno)),
                "check that the folder is there and can be written");
}

ZipWriter::~ZipWriter() {
  if (zip_) zipClose(zip_, nullptr);
}

void ZipWriter::fail(const std::string& action, int code) const {
  const std::string why =
      code == ZIP_ERRNO && errno != 0 ? errno_text(errno) : cat("zip error ", code);
  throw Error(cat("cannot ", action, " ", path_.string(), ": ", why),
              "see that the disk has room for it");
}

void ZipWriter::open_entry(const std::string& name, ZipMethod method, bool large) {
  LOCKSTEP_CHECK(zip_ && !entry_open_);
  check_name(name);
  if (!names_.insert(name).second)
    throw Error(cat(path_.string(), " holds an entry ", name, " already"));
  zip_fileinfo info{};
  info.dosDate = 1U << 21 | 1U << 16;                     // 1 January 1980
  info.external_fa = static_cast<uLong>(0100644) << 16U;  // a regular file, as on Unix
  constexpr uLong made_by_unix = 3U << 8U | 45U, names_are_utf8 = 1U << 11U;
  errno = 0;
  const int code = zipOpenNewFileInZip4_64(
      zip_, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr,
      method == ZipMethod::store ? 0 : Z_DEFLATED, Z_DEFAULT_COMPRESSION, 0, -MAX_WBITS,
      DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, nullptr, 0, made_by_unix, names_are_utf8, large ? 1 : 0);
  if (code != ZIP_OK) fail(cat("add ", name, " to"), code);
  entry_open_ = true;
}

void ZipWriter::begin(const std::string& name, ZipMethod method) {
  open_entry(name, method, /*large=*/true);
}

void ZipWriter::write(std::string_view bytes) {
  LOCKSTEP_CHECK(entry_open_);
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, piece_bytes);
    errno = 0;
    const int code = zipWriteInFileInZip(zip_, piece.data(), static_cast<unsigned>(piece.size()));
    if (code != ZIP_OK) fail("write", code);
    bytes.remove_prefix(piece.size());
  }
}

void ZipWriter::end() {
  LOCKSTEP_CHECK(entry_open_);
  errno = 0;
  if (const int code = zipCloseFileInZip(zip_); code != ZIP_OK) fail("write", code);
  entry_open_ = false;
}

void ZipWriter::add(const std::string& name, std::string_view bytes, ZipMethod method) {
  // Deflate can enlarge bytes slightly that it cannot compress.
  constexpr std::uint64_t most_of_small = std::uint64_t{4'000'000'000};
  open_entry(name, method, bytes.size() > most_of_small);
  write(bytes);
  end();
}

void ZipWriter::add_file(const std::string& name, const std::filesystem::path& file,
                         ZipMethod method) {
  const UniqueFd fd = open_regular_file(file);
  begin(name, method);
  std::string buffer(piece_bytes, '\0');
  for (;;) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(cat("cannot read ", file.string(), ": ", errno_text(errno)));
    if (count == 0) break;
    write({buffer.data(), static_cast<std::size_t>(count)});
  }
  end();
}

void ZipWriter::finish() {
  LOCKSTEP_CHECK(zip_ && !entry_open_);
  errno = 0;
  const int code = zipClose(zip_, nullptr);
  const int error = errno;
  zip_ = nullptr;
  if (code != ZIP_OK) file_.fail(error);
  file_.commit();
}

}  // namespace lockstep
