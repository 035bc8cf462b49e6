// Draws a chart of gold and predicted valence and arousal.
#pragma once

#include <string>

#include "recipes/dimabsa/sentences/scores/score.h"

namespace lockstep::dimabsa {

// Returns an SVG. The x axis is valence and the y axis arousal, each from 1 to 9. Each match is a
// line from gold to prediction. Missed gold tuples and spurious predictions are points. Tooltips
// name the tuples. If there are more than `most` tuples, only that number is drawn, evenly spaced,
// and the title states it.
std::string va_chart(Task task, const Aligned& aligned, std::size_t most = 2000);

}  // namespace lockstep::dimabsa
