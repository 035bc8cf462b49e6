// Keeps hashes of the contents of source files, so that unchanged files are not read again.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace lockstep::volume {

// Returns a text that changes if the size, modification time or inode number of a file changes. For
// a folder, this covers all its slices. Throws Error if the source does not exist.
std::string stamp_of(const std::filesystem::path& source);

// Returns the hash XXH3-128 of a file's bytes, or of the names and bytes of all slices of a folder.
// Throws Error if a file cannot be read.
std::string content_hash(const std::filesystem::path& source);

// Maps the path of a source to its stamp and its hash. The map is kept in a JSON file. This class
// is thread-safe.
class SourceIndex {
 public:
  // The index is empty if the file is absent or damaged.
  explicit SourceIndex(std::filesystem::path path);

  // Returns the hash of a source. stamp: the result of stamp_of for this source. Returns no value
  // if the hash is not known, or if the stamp has changed.
  std::optional<std::string> hash_of(const std::filesystem::path& source,
                                     const std::string& stamp) const;
  // Records a hash. A source that was modified in the last two seconds is not recorded. It may
  // change again while its modification time stays the same.
  void remember(const std::filesystem::path& source, const std::string& stamp,
                const std::string& hash);
  // Saves the recorded hashes, merged with those that other processes have saved since. Sources
  // that no longer exist are left out. The caller must hold the lock of the cache.
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
