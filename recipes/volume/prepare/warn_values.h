// Makes warnings about unusual values and labels in a data set, as lines of text.
#pragma once

#include <string>
#include <vector>

#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// Warns if the normalised values of a volume are all equal, or lie far outside [0, 1]. Also warns
// if volumes of several types are divided by different numbers. Returns at most one warning, which
// names the first such volume and a remedy.
std::vector<std::string> said_of_values(const PreparedVolumes& volumes);

// Reports how many images state that 0 is white (TIFF's WhiteIsZero). The values of these images
// are not inverted. The line is a warning if other images do not state it. Returns nothing if no
// image states it.
std::vector<std::string> said_of_white(const PreparedVolumes& volumes);

// Reports how many voxels are ignored, and in how many volumes. The line is a warning if more than
// 90 % of all voxels are ignored. meant: whether the ignored label is intended, because the user
// set it or the data is generated. If not, the line also says which options make this label a class
// of its own.
std::vector<std::string> said_of_ignored(const PreparedVolumes& volumes, bool meant);

}  // namespace lockstep::volume
