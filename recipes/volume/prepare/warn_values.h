// Oddities of a set, as lines for people.
#pragma once

#include <string>
#include <vector>

#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// A warning if normalised values of a volume lie far from 0 to 1 or are all the same,
// or if volumes of several types are divided by different numbers; it names the first such
// volume and what helps.
std::vector<std::string> said_of_values(const PreparedVolumes& volumes);

// How many images say that 0 is white; their values are not inverted. A warning if other images do
// not say so.
std::vector<std::string> said_of_white(const PreparedVolumes& volumes);

// How many voxels are ignored, in how many volumes. Advice if the label may be a class of its own,
// unless it is `meant`. A warning if it is more than 90 % of all.
std::vector<std::string> said_of_ignored(const PreparedVolumes& volumes, bool meant);

}  // namespace lockstep::volume
