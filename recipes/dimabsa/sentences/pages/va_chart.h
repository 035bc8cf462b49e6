// Draws a chart of gold and predicted valence and arousal.
#pragma once

#include <string>

#include "recipes/dimabsa/sentences/scores/score.h"

namespace lockstep::dimabsa {

// Returns an SVG. The x axis is valence and the y axis arousal, each from 1 to 9. Each match is a
// line from the gold tuple to the predicted tuple. Missed gold tuples and spurious predicted tuples
// are points. Tooltips name the tuples. If there are more than `most` tuples, only `most` of them
// are drawn, which are evenly spaced in the list. The title then states both numbers.
std::string va_chart(Task task, const Aligned& aligned, std::size_t most = 2000);

}  // namespace lockstep::dimabsa
