// Valence and arousal of gold and prediction as a picture.
#pragma once

#include <string>

#include "recipes/dimabsa/sentences/scores/score.h"

namespace lockstep::dimabsa {

// SVG: valence to the right and arousal upwards, 1 to 9. Each match is a line from gold to
// prediction; gold tuples that were missed and spurious predictions are points without a line. At
// most `most` tuples are drawn, evenly chosen; the title says so then. Text under the pointer names
// the tuple.
std::string va_chart(Task task, const Aligned& aligned, std::size_t most = 2000);

}  // namespace lockstep::dimabsa
