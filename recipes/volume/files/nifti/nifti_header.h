// The header of a NIfTI file, version 1 (348 bytes) or 2 (540 bytes), as bytes and decoded. The
// layouts are those of nifti1.h and nifti2.h from nifti.nimh.nih.gov.
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
  std::uint64_t voxels_at = 0;  // offset in the file, or in the inflated bytes
  bool swapped = false;         // the voxels have the other byte order
};

// head: the file's first 540 bytes, or all of a shorter file. Throws Error, which names the file.
NiftiHeader parse_nifti_header(std::span<const std::byte> head, const std::string& name,
                               const ReadVolume& how);
// Makes the bytes before the first voxel. The header must be within the limits of its version.
std::vector<std::byte> make_nifti_header(const VolumeHeader& header);

}  // namespace lockstep::volume
