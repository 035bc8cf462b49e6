// Whether two NIfTI files say that their voxels lie in the same places.
#pragma once

#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

enum class SamePlace {
  yes,      // or one of them is no NIfTI file
  unknown,  // they differ, and one says no place: no codes, or what libraries write without one
  no,
};
// Of volumes of one shape (channels aside). Corners may be a tenth of a voxel apart. A file without
// codes lies where nibabel or SimpleITK puts it, whichever fits.
SamePlace same_place(const VolumeHeader& a, const VolumeHeader& b);

// "the affine [1 0 0 0; 0 1 0 0; 0 0 2 0]", and where it is nobody's statement: "(no codes)".
std::string describe_place(const VolumeHeader& header);

}  // namespace lockstep::volume
