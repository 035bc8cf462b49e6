// The arithmetic of one optimizer step: forward and backward over the micro-batches, the sum over
// the ranks, the update. See docs/design/engine.md for the order of things and why.
#pragma once

#include "backends/memory_reserve.h"
#include "ops/step_scalars/step_scalars.h"
#include "training/distributed/process_group.h"
#include "training/gradients/gradient_buffers.h"
#include "training/gradients/gradient_sum.h"
#include "training/gradients/not_finite.h"
#include "training/recipe/recipe.h"
#include "training/step/step_inputs.h"
#include "training/step/step_numbers.h"
#include "training/update/deferred_update.h"
#include "training/update/model_buffers.h"
#include "training/update/optimizer.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>
#include <memory>
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
  TrainStep(const StepParts& parts, const StepNumbers& numbers, MemoryReserve& reserve);

  // The whole step. Returns its numbers (StepNumbers::whole) on the device.
  at::Tensor enqueue(const StepInputs& inputs);
  // Before a graph of such a step is captured: whether it may begin with the update of the step
  // before it (DeferredUpdate). Runs forward passes to find out, waits for the device, calls no
  // collective, and settles. Also makes the first call of Backend::side_work, which must come
  // outside of a capture.
  bool may_begin_with_update(const StepInputs& inputs);
  // By parameter: how many rows its gradient had in the last step (RowExchange::counts). All ranks
  // pass those of a step of the same shapes to `agree_on_rows` before a capture. The order is
  // agree_on_rows, may_begin_with_update, record.
  std::vector<std::int64_t> row_counts() const;
  void agree_on_rows(const std::vector<std::int64_t>& counts);
  // The same as `enqueue` while a graph is captured. Lack of memory throws and so ends the capture.
  at::Tensor record(const StepInputs& inputs, bool begins_with_update);
  // Before a replay of such a graph.
  void before_replay(bool begins_with_update);
  // All work enqueued from now on sees the weights of the last step.
  void settle() { update_.settle(); }
  // After a capture that failed.
  void forget_unfinished();
  // All ranks, after a step that was dropped or not finite: later steps count again.
  void reset();
  // From the next step on all blocks of the model are computed again in backward.
  void recompute_all_blocks() { parts_.recomputed_blocks = all_blocks; }
  // After `reset`, with the data of a step that was not finite: goes through it again and changes
  // nothing. Calls no collective, waits for the device.
  NotFinite find_not_finite(const StepInputs& inputs);

 private:
  class Recording;
  class Trial;
  StepContext context_of(const at::Tensor& counters, const StepFactors& factors) const;
  Batch batch_of(const StepInputs& inputs, std::size_t m) const;
  std::vector<at::Tensor> loss_of(const Batch& batch, StepContext& context);
  at::Tensor forward(const StepInputs& inputs, std::size_t m, StepContext& context,
                     const at::Tensor& sums);
  void forward_backward(const StepInputs& inputs, std::size_t m, const StepFactors& factors,
                        const at::Tensor& sums, bool last, bool searching = false);
  Phase forward_backward_all(const StepInputs& inputs, const StepFactors& factors,
                             const at::Tensor& sums);
  void sum_gradients(Phase& failed);
  // The step's numbers, on their way to their sum over the ranks.
  struct NumbersSum {
    at::Tensor sum;
    std::unique_ptr<Pending> pending;
  };
  NumbersSum sum_numbers(const StepInputs& inputs, const at::Tensor& sums, Phase failed);
  std::string first_not_finite(const StepInputs& inputs, std::size_t m, const StepFactors& factors);
  void enter(Phase phase);
  template <class Function>
  auto retry(const Function& function);

  StepParts parts_;
  const StepNumbers& numbers_;
  MemoryReserve& reserve_;
  GradientSum gradients_;
  DeferredUpdate update_;
  std::size_t terms_;
  std::vector<std::string> logged_;
  std::shared_ptr<const StatisticsOfRanks> statistics_of_ranks_;  // null: each rank's own
  at::Tensor stamps_;                                             // f64 [2]
  at::Tensor dropped_;  // f64 [1]; above 0: no step changes anything from here on
  bool recording_ = false, trying_ = false;
  std::unique_ptr<SideWork> side_, second_side_;  // while a graph is captured
  bool begins_with_update_ = false;               // that graph does
  NumbersSum early_numbers_;    // its step metrics, under way since its last forward pass
  bool touched_known_ = false;  // find_touched ran, and only replays came since
  Phase phase_ = Phase::none;
};

}  // namespace lockstep
