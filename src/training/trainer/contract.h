// Checks that a recipe keeps the contract of training/recipe/recipe.h, before a new run trains.
#pragma once

#include "training/contract/contract_check.h"
#include "training/gradients/gradient_buffers.h"
#include "training/trainer/output/recorder.h"
#include "training/trainer/placed_model.h"
#include "training/trainer/trainer.h"

namespace lockstep {

// Runs check_contract (training/contract/contract_check.h). All ranks call it before the first
// step. Throws Error if the recipe certainly breaks its contract. Likely faults become warning
// events. recorder: null on ranks other than 0.
void require_contract(const TrainerSetup& setup, PlacedModel& placed, GradientBuffers& gradients,
                      const DatasetPair& data, Recorder* recorder);

}  // namespace lockstep
