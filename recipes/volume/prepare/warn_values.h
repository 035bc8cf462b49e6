// Warnings about irregularities of a set, as lines for people.
#pragma once

#include <string>
#include <vector>

#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// Warns if a volume's normalised values lie far from 0 to 1 or are all the same, or if volumes of
// several types are divided by different numbers. The warning names the first such volume, and a
// remedy.
std::vector<std::string> said_of_values(const PreparedVolumes& volumes);

// Says how many images state that 0 is white; their values are not inverted. Warns if other images
// do not state it.
std::vector<std::string> said_of_white(const PreparedVolumes& volumes);

// Says how many voxels are ignored, in how many volumes. Unless the label is `meant`, advises if it
// may be a class of its own. Warns if more than 90 % of all voxels are ignored.
std::vector<std::string> said_of_ignored(const PreparedVolumes& volumes, bool meant);

}  // namespace lockstep::volume
