// Whether two NIfTI files say that their voxels lie in the same places.
#pragma once

#include <array>
#include <string>

#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// The type of affine_of.
using PlaceAffine = std::array<std::array<double, 4>, 4>;

// Whether the header says where its voxels lie: by an sform or a qform.
bool has_place(const VolumeHeader& header);

// Whether the voxels in the corners of two grids of `shape` lie in the same places: along each axis
// of space, they are at most a tenth of the shortest edge of a voxel of `a` apart. A place that is
// not a number in only one of them does not agree.
bool corners_agree(const PlaceAffine& a, const PlaceAffine& b, const VolumeShape& shape);

enum class SamePlace {
  yes,      // or one of them is no NIfTI file
  unknown,  // they differ, and one says no place: no codes, or what libraries write without one
  no,
};
// Compares volumes of one shape (channels aside), by corners_agree. A file without codes lies where
// nibabel or SimpleITK puts it, whichever fits.
SamePlace same_place(const VolumeHeader& a, const VolumeHeader& b);

// "the affine [1 0 0 0; 0 1 0 0; 0 0 2 0]", and if it is nobody's statement: "(no codes)".
std::string describe_place(const VolumeHeader& header);

}  // namespace lockstep::volume
