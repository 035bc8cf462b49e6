// Translates lengths of a schedule from other programs' names. One schedule.unit applies to all
// lengths.
#pragma once

#include "core/config/synonym.h"
#include "planning/options/train_options.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

// The unit of the lengths among the words of one name, or of the name itself if it is a length.
// Nothing if there are no lengths. For lengths whose words set no unit, it is `otherwise`.
std::optional<TimeUnit> unit_of_lengths(const std::vector<OurWord>& words, TimeUnit otherwise);

// Removes the unit if no length to which it could apply is left.
void drop_idle_unit(std::vector<OurWord>& words);

// Turns a share of stop.epochs into a share of stop.steps, for runs that end after so many steps.
void take_share_of_steps(std::vector<OurWord>& words);

}  // namespace lockstep::cli
