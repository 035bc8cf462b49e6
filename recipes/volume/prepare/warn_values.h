// What is odd about a set, as lines for people.
#pragma once

#include <string>
#include <vector>

#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// A warning where normalised values of a volume lie far from 0 to 1 or are all the same,
// or where volumes of several types are divided by different numbers; it names the first such
// volume and what helps.
std::vector<std::string> warnings_of(const PreparedVolumes& volumes);

}  // namespace lockstep::volume
