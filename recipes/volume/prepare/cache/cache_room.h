// Limits the size of the cache, and makes room in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace lockstep::volume {

struct CacheLimits {
  double most_gb = 0;  // for all cached volumes, in 10^9 bytes; 0: as much as the disk has room for
  // Returns the free bytes of a folder's disk; empty: asks the system.
  std::function<double(const std::filesystem::path&)> free_bytes{};
  // about the longest time that a start takes to compare contents with checksums
  double check_s = 2;
};

// Free bytes of the disk of `folder`; 0 if unknown.
double free_bytes(const std::filesystem::path& folder, const CacheLimits& limits);

// Removes cached volumes in `folder`, the longest unused ones first, until there is room for
// `needed_bytes` more. It never removes those in `kept` (names), nor those that another run has
// used in the last quarter of an hour. If that does not suffice, it removes nothing, and returns
// the fault with the bytes that are needed and free. The caller must hold the cache's lock.
std::optional<std::string> make_room(const std::filesystem::path& folder, double needed_bytes,
                                     const std::set<std::string>& kept, const CacheLimits& limits);

// Marks a cached volume as used now. Returns false if it does not exist.
bool mark_used(const std::filesystem::path& cached);

}  // namespace lockstep::volume
