// Reads one page of a TIFF: the fields of its directory, and its pixels.
#pragma once

#include <tiffio.h>

#include <cstdint>
#include <span>
#include <string>

#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// How pixels are stored if they must be converted. bits: pixels of 1 bit, which become u8 (0 or 1).
// half: floats of 16 bits, which become f32.
enum class TiffPacking { none, bits, half };

struct TiffPage {
  std::int64_t height = 0, width = 0;
  VoxelType type = VoxelType::u8;
  TiffPacking packing = TiffPacking::none;
  bool white_is_zero = false;
  std::uint64_t directory = 0;  // offset of the directory in the file
};

// Describes the current page (TIFF directory). Calls `refuse`, which throws Error, for colours,
// several samples per pixel, types that match no VoxelType, and compressions that cannot be read.
TiffPage describe_page(TIFF* tiff, const Refuse& refuse);
// Calls `refuse` unless all strips or tiles of the page lie within the file and have a plausible
// size.
void check_pixels(TIFF* tiff, const TiffPage& page, std::uint64_t file_bytes, const Refuse& refuse);
// Reads all pixels of the page. out: height x width voxels. Returns false if libtiff fails.
bool read_pixels(TIFF* tiff, const TiffPage& page, std::span<std::byte> out);

}  // namespace lockstep::volume
