// Reads the entries of a zip archive.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {

struct ZipEntry {
  // the path that is stored in the archive, with / between its parts; may contain any bytes
  std::string name;
  std::uint64_t bytes = 0;
};

// Use an object on one thread only. Every call throws Error if the archive is damaged. The message
// names the archive.
class ZipReader {
 public:
  explicit ZipReader(std::filesystem::path path);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  // Returns the entries that are files, in the order of the archive. Folders are left out.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  // Writes an entry to a new file in `folder`, and returns the file's path. The name of the file is
  // the last part of the entry's name. Also throws Error in these cases: this part cannot be a file
  // name, the file exists, the size differs from ZipEntry::bytes, the checksum differs, or the disk
  // is full.
  std::filesystem::path extract(std::size_t index, const std::filesystem::path& folder);

 private:
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path path_;
  void* zip_ = nullptr;  // minizip's unzFile
  std::vector<ZipEntry> entries_;
  std::vector<std::uint64_t> places_;  // offset of the directory record of each entry
};

}  // namespace lockstep
