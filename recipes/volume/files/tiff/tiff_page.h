// Reads one page of a TIFF: its description in the directory, and its pixels.
#pragma once

#include <tiffio.h>

#include <cstdint>
#include <span>
#include <string>

#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// How pixels are stored if they must be converted. Pixels of 1 bit become u8 (0 or 1). Floats of 16
// bits become f32.
enum class TiffPacking { none, bits, half };

struct TiffPage {
  std::int64_t height = 0, width = 0;
  VoxelType type = VoxelType::u8;
  TiffPacking packing = TiffPacking::none;
  bool white_is_zero = false;
  std::uint64_t directory = 0;  // offset of the directory in the file
};

// Describes the current page (TIFF directory). Refuses colours, several samples per pixel, types
// that match no VoxelType, and compressions that cannot be read. The message names the fault.
TiffPage describe_page(TIFF* tiff, const Refuse& refuse);
// Refuses the page unless all its strips or tiles lie within the file and have a plausible size.
void check_pixels(TIFF* tiff, const TiffPage& page, std::uint64_t file_bytes, const Refuse& refuse);
// Reads all pixels. out: height x width voxels. Returns false if libtiff fails.
bool read_pixels(TIFF* tiff, const TiffPage& page, std::span<std::byte> out);

}  // namespace lockstep::volume
