// How much the cache may take, and what makes room in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace lockstep::volume {

struct CacheLimits {
  double most_gb = 0;  // of all cached volumes, in 10^9 bytes; 0: what the disk has room for
  // Free bytes of the disk of a folder; empty: as the system says.
  std::function<double(const std::filesystem::path&)> free_bytes{};
  double check_s = 2;  // that a start takes at most, about, to compare contents with checksums
};

// Free bytes of the disk of `folder`; 0 if unknown.
double free_bytes(const std::filesystem::path& folder, const CacheLimits& limits);

// Removes cached volumes in `folder`, those that were not used longest first, until `needed_bytes`
// more have room. It never removes those in `kept` (names), nor those that another run has used in
// the last quarter of an hour. On failure it removes nothing and returns the fault, with the bytes
// that are needed and free. The caller holds the cache's lock.
std::optional<std::string> make_room(const std::filesystem::path& folder, double needed_bytes,
                                     const std::set<std::string>& kept, const CacheLimits& limits);

// Marks it as used now; false if it is not there.
bool mark_used(const std::filesystem::path& cached);

}  // namespace lockstep::volume
