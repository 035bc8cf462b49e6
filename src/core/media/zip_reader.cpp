#include "core/media/zip_reader.h"

#include <fcntl.h>
#include <minizip/unzip.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/files/files.h"
#include "core/base/files/write_all.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr std::size_t read_bytes = 1 << 20;
constexpr std::size_t most_name_bytes = 65'535;

// Returns "" if the last part is not a valid file name.
std::string last_part(const std::string& name) {
  const std::string last = name.substr(name.find_last_of("/\\") + 1);
  const bool control =
      std::any_of(last.begin(), last.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; });
  return control || last == "." || last == ".." || last.size() > 255 ? "" : last;
}

}  // namespace

ZipReader::ZipReader(std::filesystem::path path) : path_(std::move(path)) {
  open_regular_file(path_);  // throws Error if the file cannot be read
  zip_ = unzOpen64(path_.c_str());
  if (zip_ == nullptr) fail("it is no zip archive, or truncated");
  std::string name(most_name_bytes, '\0');
  int code = unzGoToFirstFile(zip_);
  for (; code == UNZ_OK; code = unzGoToNextFile(zip_)) {
    unz_file_info64 info{};
    if (unzGetCurrentFileInfo64(zip_, &info, name.data(), name.size(), nullptr, 0, nullptr, 0) !=
        UNZ_OK)
      break;
    const std::string own = name.substr(0, std::min<std::size_t>(info.size_filename, name.size()));
    if (own.empty() || own.ends_with('/')) continue;
    entries_.push_back({own, info.uncompressed_size});
    places_.push_back(unzGetOffset64(zip_));
  }
  if (code == UNZ_END_OF_LIST_OF_FILE) return;
  unzClose(zip_);
  fail("its directory is damaged");
}

ZipReader::~ZipReader() { unzClose(zip_); }

void ZipReader::fail(const std::string& why) const {
  throw Error(cat("cannot read ", path_.string(), ": ", why), "make the archive again");
}

std::filesystem::path ZipReader::extract(std::size_t index, const std::filesystem::path& folder) {
  const ZipEntry& entry = entries_.at(index);
  const std::string name = last_part(entry.name);
  if (name.empty()) fail(cat("its entry \"", printable(entry.name), "\" has no name of a file"));
  const std::filesystem::path path = folder / name;
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file && errno == EEXIST) fail(cat("it has two files ", printable(name)));
  if (!file) throw Error(cat("cannot write ", path.string(), ": ", errno_text(errno)));
  const std::string what = cat("its entry ", printable(entry.name), " is damaged");
  if (unzSetOffset64(zip_, places_[index]) != UNZ_OK || unzOpenCurrentFile(zip_) != UNZ_OK)
    fail(what);
  std::string piece(read_bytes, '\0');
  std::uint64_t done = 0;
  int count = 0;
  while ((count = unzReadCurrentFile(zip_, piece.data(), static_cast<unsigned>(piece.size()))) >
         0) {
    done += static_cast<std::uint64_t>(count);
    if (done > entry.bytes) break;
    if (!write_all(file.get(), {piece.data(), static_cast<std::size_t>(count)}))
      throw Error(cat("cannot write ", path.string(), ": ", errno_text(errno)),
                  "make room on that disk");
  }
  const int closed = unzCloseCurrentFile(zip_);  // also checks the checksum
  if (count != 0 || closed != UNZ_OK || done != entry.bytes) fail(what);
  return path;
}

}  // namespace lockstep
