// Makes warnings about unusual values and labels in a data set, as lines of text.
#pragma once

#include <string>
#include <vector>

#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// Warns if the normalised values of a volume are all equal, or lie far outside [0, 1]. Also warns
// if the data set has several voxel types that data.normalize=divide divides by different numbers.
// Returns at most one warning, which names the first such volume and a remedy.
std::vector<std::string> said_of_values(const PreparedVolumes& volumes);

// Returns a line that says how many images state that 0 is white (TIFF's WhiteIsZero). The values
// of these images are not inverted. The line is a warning if only some of the images state it.
// Returns no line if no image states it.
std::vector<std::string> said_of_white(const PreparedVolumes& volumes);

// Returns a line that says how many voxels are ignored, and in how many volumes. The line is a
// warning if more than 90 % of all voxels are ignored. meant: whether the ignored label is
// intended, because the user set it or the data is generated. If `meant` is false, the line also
// says which options make this label a class.
std::vector<std::string> said_of_ignored(const PreparedVolumes& volumes, bool meant);

}  // namespace lockstep::volume
