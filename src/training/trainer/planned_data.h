// A recipe's data, checked against the plan of the run.
#pragma once

#include "training/trainer/trainer.h"

namespace lockstep {

// Returns Recipe::data. Throws Error if the numbers of samples, the size of an epoch or the rows of
// a sample differ from the plan.
DatasetPair planned_data(const TrainerSetup& setup);

}  // namespace lockstep
