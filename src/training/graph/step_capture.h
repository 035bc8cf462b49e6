// How a step behaves while it is captured as a graph: its plan and its side streams.
// step/step_graphs.cpp begins and ends it.
#pragma once

#include "backends/backend.h"
#include "training/distributed/process_group.h"
#include "training/gradients/gradient_buffers.h"
#include "training/gradients/reducer.h"
#include "training/graph/deferred_update.h"
#include "training/update/optimizer.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

namespace lockstep {

// The step's numbers (StepMetrics), on their way to their sum over the ranks.
struct MetricsSum {
  at::Tensor sum;
  std::unique_ptr<Pending> pending;
};

// While it lives the step follows the graph's plan, and part of its work runs on side streams. Then
// eager steps have their plan again. One thread.
class StepCapture {
 public:
  // All outlive it.
  StepCapture(GradientBuffers& gradients, Optimizer& optimizer, Reducer& reducer, Backend& backend,
              std::shared_ptr<const StepPlan> plan);
  ~StepCapture();
  StepCapture(const StepCapture&) = delete;
  StepCapture& operator=(const StepCapture&) = delete;

  // The step begins: enqueues the update of the step before, if the plan defers it.
  void begin_step();
  DeferredUpdate* update() { return update_ ? &*update_ : nullptr; }
  // Under way since the last forward pass.
  MetricsSum numbers;

 private:
  GradientBuffers& gradients_;
  Optimizer& optimizer_;
  Reducer& reducer_;
  std::shared_ptr<const StepPlan> eager_;
  std::unique_ptr<SideWork> side_, second_side_;
  std::optional<DeferredUpdate> update_;
};

}  // namespace lockstep
