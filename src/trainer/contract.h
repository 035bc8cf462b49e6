// The check of a recipe's contract, before a new run trains and by itself.
#pragma once

#include "engine/contract_check.h"
#include "engine/gradient_buffers.h"
#include "trainer/placed_model.h"
#include "trainer/recorder.h"
#include "trainer/trainer.h"

namespace lockstep {

// All ranks, before the first step. Likely faults become warnings of `recorder`, which is null but
// on rank 0. Throws Error if the recipe breaks its contract for certain.
void require_contract(const TrainerSetup& setup, PlacedModel& placed, GradientBuffers& gradients,
                      const DatasetPair& data, Recorder* recorder);

}  // namespace lockstep
