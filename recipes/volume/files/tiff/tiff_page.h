// One page of a TIFF: what its directory says, and its pixels.
#pragma once

#include <tiffio.h>

#include <cstdint>
#include <span>
#include <string>

#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// How pixels are stored if no VoxelType is like it: bits, which become u8 of 0 and 1, and floats
// of 16 bits, which become f32.
enum class TiffPacking { none, bits, half };

struct TiffPage {
  std::int64_t height = 0, width = 0;
  VoxelType type = VoxelType::u8;
  TiffPacking packing = TiffPacking::none;
  bool white_is_zero = false;
  std::uint64_t directory = 0;  // where it lies in the file
};

// Describes the directory that is read. Refuses RGB, several samples a pixel, types that are no
// VoxelType, and compressions that are not read, by name.
TiffPage describe_page(TIFF* tiff, const Refuse& refuse);
// Whether all of its strips or tiles lie within the file, and are of a size that fits the page.
void check_pixels(TIFF* tiff, const TiffPage& page, std::uint64_t file_bytes, const Refuse& refuse);
// False if libtiff fails. out: height x width voxels.
bool read_pixels(TIFF* tiff, const TiffPage& page, std::span<std::byte> out);

}  // namespace lockstep::volume
