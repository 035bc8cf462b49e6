// A decoded volume: a file of plain voxels, which every rank maps into memory.
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
  VoxelType type = VoxelType::u8;  // u8, u16 or f32; slope and intercept are applied
  bool labelled = false;
  std::int64_t ignore = -1;                   // the label that is left out; -1: none
  std::array<double, 3> spacing_mm{1, 1, 1};  // z, y, x; 1 if the file does not state it
  bool spacing_known = false;
  bool white_is_zero = false;  // the image's TIFF says so
  std::int64_t ignored = 0;    // voxels whose label is `ignore`
  std::vector<ChannelStatistics> channels;
  std::string content = std::string(32, '0');  // XXH3-128 of everything after the header
};

// Immutable; any number of threads may use it at once.
class CachedVolume {
 public:
  // Throws Error, which names the file, if it is not whole or not of this version. This is checked
  // by the header's checksum, and by the file's length, which follows from the header.
  explicit CachedVolume(const std::filesystem::path& path);
  ~CachedVolume();
  CachedVolume(const CachedVolume&) = delete;
  CachedVolume& operator=(const CachedVolume&) = delete;

  const CachedHeader& header() const { return header_; }
  const VolumeShape& shape() const { return header_.shape; }
  std::span<const std::byte> image() const { return image_; }       // [C, D, H, W] of header().type
  std::span<const std::uint8_t> labels() const { return labels_; }  // [D, H, W]; empty: none

  // Whether voxels, labels and rows are still those that were written. Reads the whole file.
  bool has_its_content() const;

  // The number of foreground voxels (neither 0 nor ignored) in planes [begin, end).
  std::int64_t positives(std::int64_t begin, std::int64_t end) const;
  // The k-th of these voxels as z, y, x, in the order of voxels; 0 <= k < positives(begin, end).
  std::array<std::int64_t, 3> positive(std::int64_t begin, std::int64_t end, std::int64_t k) const;

 private:
  CachedHeader header_;
  std::byte* mapped_ = nullptr;
  std::size_t bytes_ = 0, content_at_ = 0;
  std::span<const std::byte> image_;
  std::span<const std::uint8_t> labels_;
  // Foreground voxels before each row z * height + y, and all of them: [D * H + 1].
  std::span<const std::uint64_t> positives_before_row_;
};

}  // namespace lockstep::volume
