// The computation of one optimizer step: forward and backward over the micro-batches, the sum over
// the ranks, the update. docs/design/engine.md explains the order of this work.
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

// The value of StepContext::recomputed_blocks for all blocks, also if the number of blocks is
// unknown.
inline constexpr std::int64_t all_blocks = std::numeric_limits<std::int64_t>::max();

// The objects that a step works on. All of them outlive the TrainStep.
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
// memory still takes part in all collectives of the step, so that every rank drops the step. A
// dropped step changes nothing, and no later step changes anything before `reset`. One thread.
class TrainStep {
 public:
  TrainStep(const StepParts& parts, const StepMetrics& numbers, MemoryReserve& reserve);

  // Enqueues the whole step. Returns the step metrics on the device, as host_metrics makes them
  // (StepMetrics::read).
  at::Tensor enqueue(const StepInputs& inputs);
  // Returns by parameter how many rows its gradient had in the last step (SparseAllGather::counts).
  // Before `plan_graph`, all ranks pass the counts of a step of the same shapes to `agree_on_rows`.
  std::vector<std::int64_t> row_counts() const;
  SparseAllGather::AgreedRows agree_on_rows(const std::vector<std::int64_t>& counts);
  // Makes the plan of a graph of such a step. The graph may begin with the update of the previous
  // step (DeferredUpdate). Runs forward passes to find this out. Calls `flush_update`, waits for
  // the device, and calls no collective. Also makes the first call of Backend::side_work, which
  // must come outside of a capture.
  std::shared_ptr<const StepPlan> plan_graph(const StepInputs& inputs,
                                             const SparseAllGather::AgreedRows& rows);
  // As `enqueue`, but while a graph is captured. Throws if memory runs out, which ends the capture.
  at::Tensor capture(const StepInputs& inputs, const std::shared_ptr<const StepPlan>& plan);
  // Call it before a replay of such a graph.
  void before_replay(const StepPlan& plan);
  // All work enqueued from now on sees the weights of the last step.
  void flush_update() { parts_.optimizer.flush_update(); }
  // Call it after a capture that failed.
  void forget_unfinished();
  // All ranks call it after a step that was dropped or not finite, and after `flush_update`. Later
  // steps change weights again. They may have other micro-batches, so their plan is made again.
  // Allocates nothing.
  void reset();
  // From the next step on, all blocks of the model are computed again in backward.
  void recompute_all_blocks() { parts_.recomputed_blocks = all_blocks; }
  // Call it after `reset`, with the data of a step that was not finite. Computes the step again to
  // find the cause, and changes nothing. Calls no collective. Waits for the device.
  NotFinite find_not_finite(const StepInputs& inputs);

 private:
  class Trial;
  // The purpose of the forward and backward pass of a micro-batch.
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
  std::shared_ptr<const StepPlan> first_plan_;  // the plan before any step was observed
  // The assumption that the deferred update of the next graph is tried with first. Nothing: no
  // deferred update is tried.
  std::optional<Deferral> deferral_;
  bool defers_ = false;  // some graph begins with an update
  std::size_t terms_;
  std::vector<std::string> logged_;
  std::shared_ptr<const StatisticsOfRanks> statistics_of_ranks_;  // null: each rank has its own
  at::Tensor stamps_;                                             // f64 [2]
  at::Tensor dropped_;              // f64 [1]; above 0: no step changes anything from here on
  StepCapture* capture_ = nullptr;  // the capture in progress; null: none
  Phase phase_ = Phase::none;
};

}  // namespace lockstep
