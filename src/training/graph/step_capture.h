// Sets the plan and the side streams of a step while the step is captured as a CUDA graph.
// step/step_graphs.cpp begins and ends the capture.
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

// The step metrics (StepMetrics) while they are being summed over the ranks.
struct MetricsSum {
  at::Tensor sum;
  std::unique_ptr<Pending> pending;
};

// While an object exists, the step follows the graph's plan, and part of its work runs on side
// streams. When the object is destroyed, the plan for eager steps (steps without a graph) is set
// again. All calls must come from one thread.
class StepCapture {
 public:
  // All arguments but `plan` must outlive this object.
  StepCapture(GradientBuffers& gradients, Optimizer& optimizer, Reducer& reducer, Backend& backend,
              std::shared_ptr<const StepPlan> plan);
  ~StepCapture();
  StepCapture(const StepCapture&) = delete;
  StepCapture& operator=(const StepCapture&) = delete;

  // Call it when the step begins. If the plan has a deferred update, enqueues the update of the
  // previous step.
  void begin_step();
  DeferredUpdate* update() { return update_ ? &*update_ : nullptr; }
  // The step metrics. Their sum over the ranks is started after the last forward pass.
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
