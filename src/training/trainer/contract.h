// The check of a recipe's contract, before a new run trains and by itself.
#pragma once

#include "training/contract/contract_check.h"
#include "training/gradients/gradient_buffers.h"
#include "training/trainer/output/recorder.h"
#include "training/trainer/placed_model.h"
#include "training/trainer/trainer.h"

namespace lockstep {

// All ranks, before the first step. Likely faults become warnings of `recorder`, which is null but
// on rank 0. Throws Error if the recipe breaks its contract for certain.
void require_contract(const TrainerSetup& setup, PlacedModel& placed, GradientBuffers& gradients,
                      const DatasetPair& data, Recorder* recorder);

}  // namespace lockstep
