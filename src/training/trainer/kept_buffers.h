// Checks a model's buffers between steps, and makes them equal on all ranks. In a step, each rank
// changes its own buffers.
#pragma once

#include "training/trainer/placed_model.h"
#include "training/trainer/trainer.h"
#include "training/update/optimizer.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace lockstep {

class KeptBuffers {
 public:
  // All arguments must outlive this object.
  KeptBuffers(const TrainerSetup& setup, PlacedModel& placed, Optimizer& optimizer)
      : setup_(setup), placed_(placed), optimizer_(optimizer) {}

  // In exact mode (option exact), copies the buffers for `check`. Call it after the model is
  // restored and before the first step.
  void start();
  // Throws Error if the model replaced a buffer by another tensor, because the new tensor is
  // neither saved nor shared. In exact mode, also throws Error if training has changed a buffer.
  // The buffer's values would depend on the samples of one rank, and therefore on the number of
  // ranks.
  void check() const;
  // Makes the buffers equal on all ranks: all ranks get rank 0's values, or the mean over the ranks
  // if norm.keep is mean. Does the same for the averages of the buffers (WeightAverage). All ranks
  // call it.
  void share();

 private:
  const TrainerSetup& setup_;
  PlacedModel& placed_;
  Optimizer& optimizer_;
  // In exact mode, the values of the buffers when `start` was called; else empty.
  std::vector<at::Tensor> first_;
};

}  // namespace lockstep
