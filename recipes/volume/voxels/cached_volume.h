// A decoded volume of the cache. Its file contains uncompressed voxels, and every rank maps it into
// memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "recipes/volume/files/volume_header.h"
#include "recipes/volume/voxels/statistics.h"

namespace lockstep::volume {

struct CachedHeader {
  VolumeShape shape;
  VoxelType type = VoxelType::u8;  // u8, u16 or f32, with slope and intercept applied
  bool labelled = false;
  std::int64_t ignore = -1;                   // the label that is left out; -1: none
  std::array<double, 3> spacing_mm{1, 1, 1};  // z, y, x; 1 if not known
  bool spacing_known = false;
  bool white_is_zero = false;  // WhiteIsZero of the image's TIFF
  std::int64_t ignored = 0;    // number of voxels with the label `ignore`
  std::vector<ChannelStatistics> channels;
  std::string content = std::string(32, '0');  // XXH3-128 of everything after the header
};

// This class is immutable, so several threads may use an object at once.
class CachedVolume {
 public:
  // Checks the version, the checksum of the header and the length of the file, but not the voxels.
  // Throws Error, which names the file, if one of these is wrong.
  explicit CachedVolume(const std::filesystem::path& path);
  ~CachedVolume();
  CachedVolume(const CachedVolume&) = delete;
  CachedVolume& operator=(const CachedVolume&) = delete;

  const CachedHeader& header() const { return header_; }
  const VolumeShape& shape() const { return header_.shape; }
  std::span<const std::byte> image() const { return image_; }       // [C, D, H, W] of header().type
  std::span<const std::uint8_t> labels() const { return labels_; }  // [D, H, W], or empty

  // Returns whether voxels, labels and rows match their checksum. Reads the whole file.
  bool has_its_content() const;

  // Returns the number of foreground voxels in planes [begin, end). Foreground is every label
  // except 0 and the ignored one.
  std::int64_t positives(std::int64_t begin, std::int64_t end) const;
  // Returns the position z, y, x of foreground voxel k in planes [begin, end), in the order of the
  // file. k: in [0, positives(begin, end)).
  std::array<std::int64_t, 3> positive(std::int64_t begin, std::int64_t end, std::int64_t k) const;

 private:
  CachedHeader header_;
  std::byte* mapped_ = nullptr;
  std::size_t bytes_ = 0, content_at_ = 0;
  std::span<const std::byte> image_;
  std::span<const std::uint8_t> labels_;
  // [D * H + 1]: the number of foreground voxels before each row z * height + y. The last element
  // is the number of all foreground voxels.
  std::span<const std::uint64_t> positives_before_row_;
};

}  // namespace lockstep::volume
