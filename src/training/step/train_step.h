// Computes an optimizer step: forward and backward passes, the sum over the ranks, and the update.
// docs/design/engine.md explains the order of this work.
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

// The value of StepContext::recomputed_blocks that means all blocks. The number of blocks need not
// be known.
inline constexpr std::int64_t all_blocks = std::numeric_limits<std::int64_t>::max();

// The objects that a step uses. All of them must outlive the TrainStep.
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
// memory still takes part in all collectives of the step. All ranks then drop the step. A dropped
// step changes nothing, and no later step changes anything before `reset`. All calls must come from
// one thread.
class TrainStep {
 public:
  TrainStep(const StepParts& parts, const StepMetrics& numbers, MemoryReserve& reserve);

  // Enqueues the whole step. Returns the step metrics on the device, in the form that
  // StepMetrics::read takes.
  at::Tensor enqueue(const StepInputs& inputs);
  // row_counts returns SparseAllGather::counts for the last step. Before `plan_graph`, all ranks
  // pass the counts of a step of the same shapes to agree_on_rows.
  std::vector<std::int64_t> row_counts() const;
  SparseAllGather::AgreedRows agree_on_rows(const std::vector<std::int64_t>& counts);
  // Makes the plan of a graph for a step with the shapes of `inputs`. rows: the result of
  // agree_on_rows. Trial forward passes decide whether the graph begins with the update of the
  // previous step (DeferredUpdate). Calls `flush_update`, waits for the device, and calls no
  // collective. Also makes the first call of Backend::side_work, which is not allowed in a capture.
  std::shared_ptr<const StepPlan> plan_graph(const StepInputs& inputs,
                                             const SparseAllGather::AgreedRows& rows);
  // Does the same as `enqueue` for a step that is being captured. If memory runs out, throws an
  // exception that ends the capture.
  at::Tensor capture(const StepInputs& inputs, const std::shared_ptr<const StepPlan>& plan);
  // Call it before each replay of a graph with this plan.
  void before_replay(const StepPlan& plan);
  // Makes the update of the last step if it is deferred (Optimizer::flush_update).
  void flush_update() { parts_.optimizer.flush_update(); }
  // Call it after a capture that failed. Forgets the step that was not completed.
  void forget_unfinished();
  // Lets later steps change weights again, and lets the plan be made again. All ranks call it after
  // a step with `dropped` or `not_finite`. Call `flush_update` first. Allocates nothing.
  void reset();
  // From the next step on, all blocks of the model are recomputed in backward.
  void recompute_all_blocks() { parts_.recomputed_blocks = all_blocks; }
  // Repeats the computation of a step that was not finite, to find the tensor that is the cause.
  // Call it after `reset`, with the data of that step. The function changes nothing, calls no
  // collective, and waits for the device.
  NotFinite find_not_finite(const StepInputs& inputs);

 private:
  class Trial;
  // The purpose of a forward and backward pass: a step without a graph, a capture, or
  // find_not_finite.
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
  std::shared_ptr<const StepPlan> first_plan_;  // the plan that is used before a step was observed
  // The assumption that is tried first for the deferred update of the next graph. It is empty if
  // graphs get no deferred update.
  std::optional<Deferral> deferral_;
  bool defers_ = false;  // whether some graph has a deferred update
  std::size_t terms_;
  std::vector<std::string> logged_;
  // Null if each rank has its own statistics.
  std::shared_ptr<const StatisticsOfRanks> statistics_of_ranks_;
  at::Tensor stamps_;   // f64 [2]: times of the end of the backward pass and of the reduction
  at::Tensor dropped_;  // f64 [1]; if above 0, no step changes anything before `reset`
  StepCapture* capture_ = nullptr;  // the capture in progress, or null
  Phase phase_ = Phase::none;
};

}  // namespace lockstep
