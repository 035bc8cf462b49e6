// Reads the entries of a zip archive.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {

struct ZipEntry {
  std::string name;  // as stored, with / between folders; may be any bytes
  std::uint64_t bytes = 0;
};

// One thread. Every call throws Error, which names the archive, if it is damaged.
class ZipReader {
 public:
  explicit ZipReader(std::filesystem::path path);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  // The files, in the archive's order.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  // Writes entry `index` to a new file in `folder`, named by the last part of the entry's name.
  // Checks its checksum and returns the path. Also throws Error if the name is invalid for a file,
  // the file exists, there are more bytes than `entries` says, or the disk is full.
  std::filesystem::path extract(std::size_t index, const std::filesystem::path& folder);

 private:
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path path_;
  void* zip_ = nullptr;  // minizip's unzFile
  std::vector<ZipEntry> entries_;
  std::vector<std::uint64_t> places_;  // offset of each entry's directory record
};

}  // namespace lockstep
