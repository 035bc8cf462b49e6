// Reads the entries of a zip archive.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {

struct ZipEntry {
  std::string name;  // as it is stored, with / between folders; may be any bytes
  std::uint64_t bytes = 0;
};

// One thread. Every call throws Error, which names the archive, where it is damaged.
class ZipReader {
 public:
  explicit ZipReader(std::filesystem::path path);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  const std::vector<ZipEntry>& entries() const { return entries_; }  // files, in their order
  // Writes entry `index` to a new file of `folder`, whose name is the entry's last part, checks its
  // checksum and returns the path. Throws Error, besides, where that name cannot be a file's, where
  // the file is there already, where there are more bytes than `entries` says, and where the disk
  // is full.
  std::filesystem::path extract(std::size_t index, const std::filesystem::path& folder);

 private:
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path path_;
  void* zip_ = nullptr;  // minizip's unzFile
  std::vector<ZipEntry> entries_;
  std::vector<std::uint64_t> places_;  // of each entry's directory record
};

}  // namespace lockstep
