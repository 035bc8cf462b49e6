// Gets a recipe's data, and checks it against the plan of the run.
#pragma once

#include "training/trainer/trainer.h"

namespace lockstep {

// Returns Recipe::data. Throws Error if one of these numbers differs from the plan: training
// samples, validation samples, samples in an epoch, and rows of a sample. The validation samples
// are not checked if setup.measure_only is true.
DatasetPair planned_data(const TrainerSetup& setup);

}  // namespace lockstep
