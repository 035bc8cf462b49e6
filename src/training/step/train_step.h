// The arithmetic of one optimizer step: forward and backward over the micro-batches, the sum over
// the ranks, the update. See docs/design/engine.md for the order of things and why.
#pragma once

#include "backends/memory_reserve.h"
#include "ops/step_scalars/step_scalars.h"
#include "training/distributed/process_group.h"
#include "training/gradients/gradient_buffers.h"
#include "training/gradients/gradient_reduction.h"
#include "training/gradients/not_finite.h"
#include "training/gradients/sparse_all_gather.h"
#include "training/graph/block_observer.h"
#include "training/graph/deferral_trial.h"
#include "training/graph/step_capture.h"
#include "training/recipe/recipe.h"
#include "training/step/step_inputs.h"
#include "training/step/step_metrics.h"
#include "training/update/model_buffers.h"
#include "training/update/optimizer.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// StepContext::recomputed_blocks for all blocks, also if the recipe does not tell how many it has.
inline constexpr std::int64_t all_blocks = std::numeric_limits<std::int64_t>::max();

// The objects that a step works on. All outlive it.
struct StepParts {
  Recipe& recipe;
  Model& model;
  GradientBuffers& gradients;
  ModelBuffers& buffers;
  Reducer& reducer;
  Optimizer& optimizer;
  ProcessGroup& group;
  Backend& backend;
  const TrainOptions& options;
  std::int64_t recomputed_blocks = 0;
};

// Enqueues steps on the training stream without synchronising the device. A rank that runs out of
// memory still takes part in all collectives of the step, so that every rank drops it: then it
// changes nothing, nor does a later one before `reset`. One thread.
class TrainStep {
 public:
  TrainStep(const StepParts& parts, const StepMetrics& numbers, MemoryReserve& reserve);

  // The whole step. Returns its numbers (StepMetrics::whole) on the device.
  at::Tensor enqueue(const StepInputs& inputs);
  // By parameter: how many rows its gradient had in the last step (SparseAllGather::counts). All
  // ranks pass those of a step of the same shapes to `agree_on_rows`, before `plan_graph`.
  std::vector<std::int64_t> row_counts() const;
  SparseAllGather::AgreedRows agree_on_rows(const std::vector<std::int64_t>& counts);
  // The plan of a graph of such a step, which may begin with the update of the step before it
  // (DeferredUpdate). Runs forward passes to find out, waits for the device, calls no collective,
  // and settles. Also makes the first call of Backend::side_work, which must come outside of a
  // capture.
  std::shared_ptr<const StepPlan> plan_graph(const StepInputs& inputs,
                                             const SparseAllGather::AgreedRows& rows);
  // The same as `enqueue` while a graph is captured. Lack of memory throws and so ends the capture.
  at::Tensor capture(const StepInputs& inputs, const std::shared_ptr<const StepPlan>& plan);
  // Before a replay of such a graph.
  void before_replay(const StepPlan& plan);
  // All work enqueued from now on sees the weights of the last step.
  void flush_update() { parts_.optimizer.flush_update(); }
  // After a capture that failed.
  void forget_unfinished();
  // All ranks, after `flush_update` and a step that was dropped or not finite: later steps count
  // again. They may have other micro-batches, so their plan is made anew. Allocates nothing.
  void reset();
  // From the next step on all blocks of the model are computed again in backward.
  void recompute_all_blocks() { parts_.recomputed_blocks = all_blocks; }
  // After `reset`, with the data of a step that was not finite: goes through it again and changes
  // nothing. Calls no collective, waits for the device.
  NotFinite find_not_finite(const StepInputs& inputs);

 private:
  class Trial;
  // The passes of one micro-batch.
  enum class Pass { of_step, of_capture, of_search };

  StepContext context_of(const at::Tensor& counters, const StepFactors& factors) const;
  Batch batch_of(const StepInputs& inputs, std::size_t m, bool captured) const;
  std::vector<at::Tensor> loss_of(const Batch& batch, StepContext& context);
  at::Tensor forward(const StepInputs& inputs, std::size_t m, StepContext& context,
                     const at::Tensor& sums, bool captured);
  void forward_backward(const StepInputs& inputs, std::size_t m, const StepFactors& factors,
                        const at::Tensor& sums, bool last, Pass pass);
  Phase forward_backward_all(const StepInputs& inputs, const StepFactors& factors,
                             const at::Tensor& sums);
  void make_plan();
  std::optional<Deferral> defer_update(UpdatePlan& plan, const StepInputs& inputs);
  void reduce_gradients(Phase& failed);
  MetricsSum sum_metrics(const StepInputs& inputs, const at::Tensor& sums, Phase failed);
  std::string first_not_finite(const StepInputs& inputs, std::size_t m, const StepFactors& factors);
  void enter(Phase phase);
  template <class Function>
  auto retry(const Function& function) {
    return capture_ != nullptr ? function() : reserve_.retry(function);
  }

  StepParts parts_;
  const StepMetrics& numbers_;
  MemoryReserve& reserve_;
  std::unique_ptr<GradientReduction> reduction_;
  BlockObserver blocks_;
  std::shared_ptr<const StepPlan> first_plan_;  // before any step was seen
  // The assumption with which the next graph's deferred update is tried first; nothing: it is not.
  std::optional<Deferral> deferral_;
  bool defers_ = false;  // some graph begins with an update
  std::size_t terms_;
  std::vector<std::string> logged_;
  std::shared_ptr<const StatisticsOfRanks> statistics_of_ranks_;  // null: each rank's own
  at::Tensor stamps_;                                             // f64 [2]
  at::Tensor dropped_;              // f64 [1]; above 0: no step changes anything from here on
  StepCapture* capture_ = nullptr;  // under way
  Phase phase_ = Phase::none;
};

}  // namespace lockstep
