// Compares where two NIfTI files place their voxels in space.
#pragma once

#include <array>
#include <string>

#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// The result of affine_of (volume_header.h).
using PlaceAffine = std::array<std::array<double, 4>, 4>;

// Whether the header states where its voxels lie: whether its sform code or its qform code is above
// 0.
bool has_place(const VolumeHeader& header);

// Whether the corner voxels of two grids of `shape` lie in the same places. Along each axis of
// space, they may be apart by at most a tenth of the shortest voxel edge of `a`. Grids do not agree
// if a number is NaN in only one of the affines.
bool corners_agree(const PlaceAffine& a, const PlaceAffine& b, const VolumeShape& shape);

enum class SamePlace {
  yes,  // the places agree, or a file is not NIfTI
  // the places differ, but at least one file states no place, or has the default affine of a
  // library
  unknown,
  no,
};
// Compares volumes of one shape by corners_agree. Channels are ignored. nibabel and SimpleITK place
// a file without codes differently, so both places are tried.
SamePlace same_place(const VolumeHeader& a, const VolumeHeader& b);

// Returns, for example, "the affine [1 0 0 0; 0 1 0 0; 0 0 2 0]". If the file states no place or
// has the default affine of a library, a note in brackets follows.
std::string describe_place(const VolumeHeader& header);

}  // namespace lockstep::volume
