// The format of a cached volume's file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "recipes/volume/voxels/cached_volume.h"

namespace lockstep::volume {

// The beginning of the file. After it comes the header as JSON. Then come three arrays: voxels,
// labels and rows, each at a multiple of 64 bytes. The array of rows is
// CachedVolume::positives_before_row_.
struct CachedPrologue {
  char magic[8];
  std::uint32_t version, json_bytes;
  std::uint64_t file_bytes;
  std::uint64_t json_sum;  // hash64 of the JSON
};
inline constexpr char cached_magic[8] = {'L', 'O', 'C', 'K', 'V', 'O', 'X', '\n'};

struct CachedLayout {
  std::size_t image_at = 0, image_bytes = 0;
  std::size_t labels_at = 0, labels_bytes = 0;
  std::size_t rows_at = 0, rows_bytes = 0;  // rows_bytes is 0 without labels
  std::size_t file_bytes = 0;
};
// Returns where the arrays lie in the file. The shape must be within VolumeLimits. json_bytes: the
// length of cached_json(header).
CachedLayout layout_of(const CachedHeader& header, std::size_t json_bytes);

std::string cached_json(const CachedHeader& header);
VoxelType cached_type(const std::string& name);  // u8, u16 or f32; throws Error for others

}  // namespace lockstep::volume
