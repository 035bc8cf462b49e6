// Reads the entries of a zip archive.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {

struct ZipEntry {
  std::string name;  // as stored, with / between its parts; may contain any bytes
  std::uint64_t bytes = 0;
};

// Use an object on one thread only. Every call throws Error, which names the archive, if it is
// damaged.
class ZipReader {
 public:
  explicit ZipReader(std::filesystem::path path);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  // Returns the files in the order of the archive, without folders.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  // Writes entry `index` to a new file in `folder`. The file has the last part of the entry's name.
  // Checks the checksum, and returns the path. Also throws Error if that part cannot be the name of
  // a file, the file exists, the size differs from `entries`, or the disk is full.
  std::filesystem::path extract(std::size_t index, const std::filesystem::path& folder);

 private:
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path path_;
  void* zip_ = nullptr;  // minizip's unzFile
  std::vector<ZipEntry> entries_;
  std::vector<std::uint64_t> places_;  // offset of the directory record of each entry
};

}  // namespace lockstep
