// Compares where two NIfTI files place their voxels in space.
#pragma once

#include <array>
#include <string>

#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// The result of affine_of (volume_header.h).
using PlaceAffine = std::array<std::array<double, 4>, 4>;

// Returns whether the header states where its voxels lie in space: whether its sform code or its
// qform code is above 0.
bool has_place(const VolumeHeader& header);

// Returns whether the corner voxels of two grids of `shape` lie at the same positions. Along each
// axis of space, they may be apart by at most a tenth of the shortest voxel edge of `a`. Grids do
// not agree if a number is NaN in only one of the affines.
bool corners_agree(const PlaceAffine& a, const PlaceAffine& b, const VolumeShape& shape);

enum class SamePlace {
  yes,  // the positions agree, or a file is not NIfTI
  // The positions differ, but at least one file does not state them (has_place), or has the default
  // affine of a library.
  unknown,
  no,
};
// Compares two volumes of the same shape by corners_agree. Channels are ignored. If both codes of a
// file are 0, nibabel and SimpleITK assume different positions, so both are tried.
SamePlace same_place(const VolumeHeader& a, const VolumeHeader& b);

// Returns, for example, "the affine [1 0 0 0; 0 1 0 0; 0 0 2 0]". If has_place is false, or the
// affine is the default of a library, a note in brackets follows.
std::string describe_place(const VolumeHeader& header);

}  // namespace lockstep::volume
