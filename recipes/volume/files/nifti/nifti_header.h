// Decodes and makes the header of a NIfTI file. The layouts are those of nifti1.h (version 1, 348
// bytes) and nifti2.h (version 2, 540 bytes) from nifti.nimh.nih.gov.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

constexpr std::size_t nifti1_bytes = 348, nifti2_bytes = 540;

struct NiftiHeader {
  VolumeHeader volume;
  std::uint64_t voxels_at = 0;  // offset of the voxels in the decompressed file
  bool swapped = false;         // whether the byte order is not the machine's
};

// Decodes a header. head: the file's first 540 bytes, or all bytes of a shorter file. Throws Error,
// which names the file, if the header is damaged or describes a volume that cannot be read.
NiftiHeader parse_nifti_header(std::span<const std::byte> head, const std::string& name,
                               const ReadVolume& how);
// Returns all bytes of the file before the first voxel. The extents must be within the limits of
// the NIfTI version that header.space states.
std::vector<std::byte> make_nifti_header(const VolumeHeader& header);

}  // namespace lockstep::volume
