// Limits the size of the cache of decoded volumes, and removes old files from it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace lockstep::volume {

struct CacheLimits {
  // largest size of all cached volumes together, in 10^9 bytes; 0: limited only by the disk
  double most_gb = 0;
  // Returns the free bytes of the disk of a folder. If the function is empty, the operating system
  // is asked.
  std::function<double(const std::filesystem::path&)> free_bytes{};
  // The time limit in seconds for cache_volumes to compare cached files with their checksums. After
  // this time, no further comparison begins.
  double check_s = 2;
};

// Returns the free bytes of the disk of `folder`, or 0 if they are not known.
double free_bytes(const std::filesystem::path& folder, const CacheLimits& limits);

// Removes cached volumes in `folder` until there is room for `needed_bytes` more bytes. The least
// recently used volumes are removed first. Volumes whose names are in `kept` stay, and so do
// volumes that a run used in the last 15 minutes. 1 GiB or 5 % of the free bytes stay free,
// whichever is more. Returns no value on success. If not enough can be removed, removes nothing,
// and returns a message with the needed and the free bytes. The caller must hold the lock of the
// cache.
std::optional<std::string> make_room(const std::filesystem::path& folder, double needed_bytes,
                                     const std::set<std::string>& kept, const CacheLimits& limits);

// Records that a cached volume is used now. Returns false if the file does not exist.
bool mark_used(const std::filesystem::path& cached);

}  // namespace lockstep::volume
