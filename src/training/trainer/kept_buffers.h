// The rules for a model's buffers between steps. Each rank has its own buffers.
#pragma once

#include "training/trainer/placed_model.h"
#include "training/trainer/trainer.h"
#include "training/update/optimizer.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace lockstep {

class KeptBuffers {
 public:
  // All arguments outlive this object.
  KeptBuffers(const TrainerSetup& setup, PlacedModel& placed, Optimizer& optimizer)
      : setup_(setup), placed_(placed), optimizer_(optimizer) {}

  // Call it after the model is restored and before the first step of this start.
  void start();
  // Throws Error if a buffer was replaced, because the new one is neither saved nor shared. In
  // exact mode it also throws if training changes a buffer. Rank 0's buffers depend on its own
  // samples, and these change with the number of ranks.
  void check() const;
  // All ranks call it. They continue with the buffers that norm.keep names: rank 0's or the mean.
  // The same applies to the average of the buffers.
  void share();

 private:
  const TrainerSetup& setup_;
  PlacedModel& placed_;
  Optimizer& optimizer_;
  // In exact mode: the buffers' values at the beginning of this start.
  std::vector<at::Tensor> first_;
};

}  // namespace lockstep
