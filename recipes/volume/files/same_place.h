// Compares the places of voxels that two NIfTI files state.
#pragma once

#include <array>
#include <string>

#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// The type of affine_of.
using PlaceAffine = std::array<std::array<double, 4>, 4>;

// Whether the header states where its voxels lie, by an sform or a qform.
bool has_place(const VolumeHeader& header);

// Whether the corner voxels of two grids of `shape` lie in the same places. Along each axis of
// space, they may be at most a tenth of the shortest voxel edge of `a` apart. A coordinate that is
// not a number in only one of the grids does not agree.
bool corners_agree(const PlaceAffine& a, const PlaceAffine& b, const VolumeShape& shape);

enum class SamePlace {
  yes,  // yes, or one of them is no NIfTI file
  // they differ, and one states no place: it has no codes, or holds what libraries write by default
  unknown,
  no,
};
// Compares volumes of one shape (ignoring channels), by corners_agree. A file without codes lies
// where nibabel or SimpleITK puts it, whichever fits.
SamePlace same_place(const VolumeHeader& a, const VolumeHeader& b);

// "the affine [1 0 0 0; 0 1 0 0; 0 0 2 0]". A note in brackets follows if the file states no place.
std::string describe_place(const VolumeHeader& header);

}  // namespace lockstep::volume
