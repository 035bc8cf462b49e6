// The rules for a model's buffers between steps, where each rank has its own.
#pragma once

#include "training/trainer/placed_model.h"
#include "training/trainer/trainer.h"
#include "training/update/optimizer.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace lockstep {

class KeptBuffers {
 public:
  // All outlive it.
  KeptBuffers(const TrainerSetup& setup, PlacedModel& placed, Optimizer& optimizer)
      : setup_(setup), placed_(placed), optimizer_(optimizer) {}

  // Before the first step of this start, once the model is restored.
  void start();
  // Throws Error where a buffer was replaced, since it is neither saved nor shared then. In exact
  // mode also where training changes one: those of rank 0 tell of its own samples, which are others
  // on another number of ranks.
  void check() const;
  // All ranks go on with what norm.keep says: rank 0's buffers or the mean, also of the average.
  void share();

 private:
  const TrainerSetup& setup_;
  PlacedModel& placed_;
  Optimizer& optimizer_;
  std::vector<at::Tensor> first_;  // of exact mode, as they were when this start began
};

}  // namespace lockstep
