#include "recipes/volume/prepare/cache/volume_part.h"

#include <algorithm>
#include <system_error>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/files/file_lock.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "recipes/volume/voxels/cache_writer.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;

fs::path path_of_part(const VolumeEntry& whole, const VolumePart& part, const fs::path& folder) {
  Hasher hasher;
  hasher.update(cat(whole.cached.filename().string(), "\n", part.axis, "\n", part.begin, "\n",
                    part.end, "\n"));
  return folder / (hasher.hex() + ".vox");
}

bool is_good(const fs::path& cached) try {
  constexpr std::uintmax_t largest_checked = std::uintmax_t{2} << 30;  // as for whole volumes
  const CachedVolume volume(cached);
  return fs::file_size(cached) > largest_checked || volume.has_its_content();
} catch (const Error&) {
  return false;
} catch (const fs::filesystem_error&) {
  return false;
}

VolumeShape shape_of_part(VolumeShape shape, const VolumePart& part) {
  (part.axis == 1 ? shape.height : shape.width) = part.end - part.begin;
  return shape;
}

// The part of [planes, H, W] with `bytes` bytes per voxel. All planes are included.
template <class Byte>
std::vector<Byte> rows_of_part(std::span<const Byte> values, const VolumeShape& shape,
                               const VolumePart& part, std::size_t bytes) {
  const auto height = static_cast<std::size_t>(shape.height);
  const auto width = static_cast<std::size_t>(shape.width) * bytes;
  const auto begin = static_cast<std::size_t>(part.begin), end = static_cast<std::size_t>(part.end);
  const std::size_t first_row = part.axis == 1 ? begin : 0,
                    last_row = part.axis == 1 ? end : height;
  const std::size_t first = part.axis == 1 ? 0 : begin * bytes;
  const std::size_t last = part.axis == 1 ? width : end * bytes;
  std::vector<Byte> result;
  result.reserve(values.size() / (height * width) * (last_row - first_row) * (last - first));
  for (std::size_t plane = 0; plane < values.size(); plane += height * width)
    for (std::size_t row = first_row; row < last_row; ++row) {
      const auto line = values.subspan(plane + row * width + first, last - first);
      result.insert(result.end(), line.begin(), line.end());
    }
  return result;
}

void write_cut(const CachedVolume& whole, const VolumePart& part, const fs::path& path) {
  const CachedHeader& header = whole.header();
  const Voxels voxels{
      .shape = shape_of_part(header.shape, part),
      .type = header.type,
      .values = rows_of_part(whole.image(), header.shape, part, bytes_of(header.type)),
      .source = {}};
  write_cached(path, voxels, rows_of_part(whole.labels(), header.shape, part, 1), header);
}

}  // namespace

bool fits(const VolumePart& part, const VolumeShape& shape) {
  return part.begin >= 0 && part.begin < part.end &&
         part.end <= (part.axis == 1 ? shape.height : shape.width);
}

VolumeEntry part_of(const VolumeEntry& whole, const VolumePart& part, const fs::path& folder,
                    const CacheLimits& limits) {
  LOCKSTEP_CHECK(fits(part, whole.shape));
  VolumeEntry entry = whole;
  entry.cached = path_of_part(whole, part, folder);
  entry.part = part;
  entry.shape = shape_of_part(whole.shape, part);
  if (mark_used(entry.cached) && is_good(entry.cached)) return entry;
  const CachedVolume volume(whole.cached);
  const UniqueFd held = lock_file(folder / "lock", [] {});
  if (mark_used(entry.cached) && is_good(entry.cached)) return entry;
  CachedHeader header = volume.header();
  header.shape = entry.shape;
  if (const auto why = make_room(folder, static_cast<double>(cached_bytes(header)),
                                 {whole.cached.filename().string()}, limits))
    throw Error(*why,
                "make room, raise data.cache_gb, or name a folder on another disk with "
                "run.cache");
  write_cut(volume, part, entry.cached);
  return entry;
}

}  // namespace lockstep::volume
