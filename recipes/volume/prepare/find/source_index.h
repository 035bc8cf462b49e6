// Remembers hashes of the contents of sources, so that unchanged sources are not read again.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace lockstep::volume {

// Size, modification time and inode number of a file, or of all slices of a folder. Throws Error if
// there is none.
std::string stamp_of(const std::filesystem::path& source);

// XXH3-128 of a file's bytes, or of the names and bytes of all slices of a folder. Throws Error.
std::string content_hash(const std::filesystem::path& source);

// A file of JSON: path -> stamp and hash. Thread-safe.
class SourceIndex {
 public:
  explicit SourceIndex(std::filesystem::path path);  // empty if the file is absent or damaged

  // Nothing unless the source is unchanged since its hash was taken.
  std::optional<std::string> hash_of(const std::filesystem::path& source,
                                     const std::string& stamp) const;
  // Does not remember a source that was changed in the last seconds, because it may change again
  // without a change of its modification time.
  void remember(const std::filesystem::path& source, const std::string& stamp,
                const std::string& hash);
  // Saves the remembered hashes, merged with those that other processes wrote in the meantime.
  // Leaves out sources that no longer exist. The caller must hold the cache's lock.
  void save();

 private:
  struct Entry {
    std::string stamp, hash;
  };
  static std::map<std::string, Entry> load(const std::filesystem::path& path);

  std::filesystem::path path_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_, added_;
};

}  // namespace lockstep::volume
