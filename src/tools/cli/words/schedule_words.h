// Lengths of a schedule in other programs' names: one schedule.unit serves all of them.
#pragma once

#include "core/config/synonym.h"
#include "planning/options/train_options.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

// The unit of the lengths among the words of one name, or of the name itself if it is a length.
// Nothing if there are no lengths. Lengths whose words set no unit count in `otherwise`.
std::optional<TimeUnit> unit_of_lengths(const std::vector<OurWord>& words, TimeUnit otherwise);

// Removes the unit if no length is left that it could belong to.
void drop_idle_unit(std::vector<OurWord>& words);

// Turns a share of stop.epochs into a share of stop.steps, for runs that end after so many steps.
void take_share_of_steps(std::vector<OurWord>& words);

}  // namespace lockstep::cli
