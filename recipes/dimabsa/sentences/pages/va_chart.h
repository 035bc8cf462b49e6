// A chart of valence and arousal, gold and predicted.
#pragma once

#include <string>

#include "recipes/dimabsa/sentences/scores/score.h"

namespace lockstep::dimabsa {

// SVG with valence to the right and arousal upwards, each from 1 to 9. Each match is a line from
// gold to prediction. Missed gold tuples and spurious predictions are points. At most `most` tuples
// are drawn, evenly chosen; the title then says so. A tooltip names the tuple.
std::string va_chart(Task task, const Aligned& aligned, std::size_t most = 2000);

}  // namespace lockstep::dimabsa
