// One page of a TIFF: the facts in its directory, and its pixels.
#pragma once

#include <tiffio.h>

#include <cstdint>
#include <span>
#include <string>

#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// How pixels are stored if no VoxelType matches: as bits, which become u8 of 0 and 1, or as floats
// of 16 bits, which become f32.
enum class TiffPacking { none, bits, half };

struct TiffPage {
  std::int64_t height = 0, width = 0;
  VoxelType type = VoxelType::u8;
  TiffPacking packing = TiffPacking::none;
  bool white_is_zero = false;
  std::uint64_t directory = 0;  // offset of the directory in the file
};

// Describes the current directory. Refuses by name: RGB, several samples per pixel, types that
// match no VoxelType, and compressions that cannot be read.
TiffPage describe_page(TIFF* tiff, const Refuse& refuse);
// Refuses the page unless all its strips or tiles lie within the file and have a size that fits it.
void check_pixels(TIFF* tiff, const TiffPage& page, std::uint64_t file_bytes, const Refuse& refuse);
// Returns false if libtiff fails. out: height x width voxels.
bool read_pixels(TIFF* tiff, const TiffPage& page, std::span<std::byte> out);

}  // namespace lockstep::volume
