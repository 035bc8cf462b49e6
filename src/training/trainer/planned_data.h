// A recipe's data, refused where they are not those that the run was planned for.
#pragma once

#include "training/trainer/trainer.h"

namespace lockstep {

// Recipe::data. Throws Error where the numbers of samples, the size of an epoch or the rows of a
// sample are not the plan's.
DatasetPair planned_data(const TrainerSetup& setup);

}  // namespace lockstep
