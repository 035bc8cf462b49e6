// Functions for lengths of a learning-rate schedule, such as the warm-up, that are translated from
// other programs' names. One schedule.unit applies to all lengths of a line.
#pragma once

#include "core/config/synonym.h"
#include "planning/options/train_options.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

// Returns the unit of the schedule's lengths among the words that translate one name. If the words
// set no unit, returns `otherwise`. Returns nothing if no word is a length. A single word
// schedule.unit counts as a length.
std::optional<TimeUnit> unit_of_lengths(const std::vector<OurWord>& words, TimeUnit otherwise);

// Removes schedule.unit if the words have no length to which it could apply.
void drop_idle_unit(std::vector<OurWord>& words);

// Replaces a share of stop.epochs by the same share of stop.steps, and then removes schedule.unit.
// It is for runs that end after a number of steps.
void take_share_of_steps(std::vector<OurWord>& words);

}  // namespace lockstep::cli
