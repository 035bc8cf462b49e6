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
  // size of all cached volumes, in 10^9 bytes; 0 = limited only by the disk
  double most_gb = 0;
  // Returns the free bytes of a folder's disk. If empty, the system is asked.
  std::function<double(const std::filesystem::path&)> free_bytes{};
  // The longest time, in seconds, for which a start compares cached files with their checksums. A
  // comparison that has begun is finished.
  double check_s = 2;
};

// Returns the free bytes of the disk of `folder`, or 0 if they are not known.
double free_bytes(const std::filesystem::path& folder, const CacheLimits& limits);

// Removes cached volumes in `folder` until there is room for `needed_bytes` more. The least
// recently used are removed first. Volumes whose names are in `kept` stay, and so do volumes that a
// run used in the last 15 minutes. 1 GiB or 5 % of the free bytes stay free, whichever is more. If
// not enough can be removed, removes nothing, and returns a message with the needed and the free
// bytes. The caller must hold the cache's lock.
std::optional<std::string> make_room(const std::filesystem::path& folder, double needed_bytes,
                                     const std::set<std::string>& kept, const CacheLimits& limits);

// Records that a cached volume is used now. Returns false if the file does not exist.
bool mark_used(const std::filesystem::path& cached);

}  // namespace lockstep::volume
