// Removes the least recently used volumes first. A file's modification time is the time of its last
// use.
#include "recipes/volume/prepare/cache/cache_room.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <vector>

#include "core/base/text/text.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;

constexpr auto recent = std::chrono::minutes(15);
constexpr double least_free_bytes = 1 << 30, least_free_share = 0.05;

struct CachedFile {
  fs::path path;
  double bytes = 0;
  fs::file_time_type used;
};

std::vector<CachedFile> cached_files(const fs::path& folder) {
  std::vector<CachedFile> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() != ".vox") continue;
    std::error_code gone;
    const auto bytes = static_cast<double>(entry->file_size(gone));
    const auto used = entry->last_write_time(gone);
    if (!gone) entries.push_back({entry->path(), bytes, used});
  }
  std::sort(entries.begin(), entries.end(),
            [](const CachedFile& a, const CachedFile& b) { return a.used < b.used; });
  return entries;
}

std::string bytes_text(double bytes) { return format_bytes(std::max(bytes, 0.0)); }

}  // namespace

double free_bytes(const fs::path& folder, const CacheLimits& limits) {
  if (limits.free_bytes) return limits.free_bytes(folder);
  std::error_code unknown;
  const fs::space_info space = fs::space(folder, unknown);
  return unknown ? 0 : static_cast<double>(space.available);
}

std::optional<std::string> make_room(const fs::path& folder, double needed_bytes,
                                     const std::set<std::string>& kept, const CacheLimits& limits) {
  const std::vector<CachedFile> entries = cached_files(folder);
  const double free = free_bytes(folder, limits);
  double taken = 0;
  for (const CachedFile& entry : entries) taken += entry.bytes;
  // Bytes that are missing on the disk, and bytes above data.cache_gb.
  const double disk = needed_bytes - (free - std::max(least_free_bytes, least_free_share * free));
  const double bound = limits.most_gb > 0 ? taken + needed_bytes - limits.most_gb * 1e9 : 0;
  const double missing = std::max(disk, bound);
  const auto old = fs::file_time_type::clock::now() - recent;
  std::vector<fs::path> removed;
  double removable = 0;
  for (const CachedFile& entry : entries) {
    if (removable >= missing) break;
    if (kept.contains(entry.path.filename().string()) || entry.used > old) continue;
    removable += entry.bytes;
    removed.push_back(entry.path);
  }
  if (removable < missing) {
    std::string why =
        cat("the cache of volumes in ", folder.string(), " has no room: ", bytes_text(needed_bytes),
            " more are needed, and ", bytes_text(free), " of the disk are free");
    if (limits.most_gb > 0)
      why += cat("; ", bytes_text(taken), " of data.cache_gb=", general(limits.most_gb, 6),
                 " are taken");
    if (disk > 0) why += ", of which 1 GiB or 5 % stay free";
    double others = 0;
    for (const CachedFile& entry : entries)
      if (!kept.contains(entry.path.filename().string())) others += entry.bytes;
    if (others > 0)
      why += cat("; removing the .vox files there that are of other volumes would free ",
                 bytes_text(others), ", where no run uses them");
    return why;
  }
  std::error_code ignored;
  for (const fs::path& path : removed) fs::remove(path, ignored);
  return std::nullopt;
}

bool mark_used(const fs::path& cached) {
  std::error_code error;
  fs::last_write_time(cached, fs::file_time_type::clock::now(), error);
  return !error || fs::exists(cached, error);  // files of other users may be read-only
}

}  // namespace lockstep::volume
