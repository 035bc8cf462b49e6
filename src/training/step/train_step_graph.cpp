// The graph of a step: its plan, its capture, and the work before a replay.
#include "training/step/train_step.h"

#include "backends/out_of_memory.h"
#include "training/step/rank_statistics.h"

#include <ATen/ops/cat.h>
#include <c10/util/ScopeExit.h>

#include <optional>
#include <utility>

namespace lockstep {

// While it exists, forward passes run only as a trial. Its destructor drops their gradients and
// restores the model's buffers.
class TrainStep::Trial {
 public:
  explicit Trial(TrainStep& step) : step_(step) { step.parts_.buffers.remember(); }
  ~Trial() {
    step_.parts_.gradients.drop();
    step_.parts_.buffers.undo();
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

 private:
  TrainStep& step_;
};

std::vector<std::int64_t> TrainStep::row_counts() const { return parts_.reducer.rows().counts(); }

// With exact sums there is nothing to agree on, because these are added in their own order.
SparseAllGather::AgreedRows TrainStep::agree_on_rows(const std::vector<std::int64_t>& counts) {
  if (parts_.options.exact) return {};
  return parts_.reducer.rows().agree(counts);
}

// Makes the update groups of a graph that begins with a deferred update. Tries kinds of deferral,
// starting with the one that worked for the last graph. Returns nothing if every such graph would
// give wrong results. The plan is then unchanged.
std::optional<Deferral> TrainStep::defer_update(UpdatePlan& plan, const StepInputs& inputs) {
  const Trial passes(*this);
  // Returns all results of a forward pass: loss terms, logged values and buffers.
  const auto forward_alone = [&](const BeforeBlock& before_block) {
    parts_.buffers.undo();
    StepContext context = context_of(inputs.micro[0].back(),
                                     step_factors(inputs.weights, parts_.optimizer.loss_scale()));
    context.statistics_of_ranks = without_the_others(statistics_of_ranks_);
    context.before_block = [&](std::int64_t block, const auto&) { before_block(block); };
    const at::Tensor sums = numbers_.new_sums(stamps_.options());
    std::vector<at::Tensor> all{
        forward(inputs, 0, context, sums, /*captured=*/true).detach().to(at::kDouble), sums};
    for (const NamedTensor& buffer : parts_.buffers.tensors())
      all.push_back(buffer.tensor.detach().flatten().to(at::kDouble));
    return at::cat(all);
  };
  const std::vector<bool> large_sparse = parts_.gradients.large_sparse();
  std::optional<UpdatePlan> tried;
  for (const Deferral how :
       {Deferral::sparse_behind_reader, Deferral::sparse_first, Deferral::all_first}) {
    if (how < *deferral_) continue;
    UpdatePlan next = plan;
    lockstep::defer_update(next, blocks_.use(), large_sparse, how);
    if (tried && next == *tried) continue;
    const DeferralTrial trial = try_deferral(next, parts_.gradients, forward_alone);
    if (trial.waits_for_blocks) {
      const Deferral served = trial.reads_sparse_once ? how : Deferral::sparse_first;
      if (served != how) lockstep::defer_update(next, blocks_.use(), large_sparse, served);
      plan = std::move(next);
      return served;
    }
    tried = std::move(next);
  }
  return std::nullopt;
}

std::shared_ptr<const StepPlan> TrainStep::plan_graph(const StepInputs& inputs,
                                                      const SparseAllGather::AgreedRows& rows) {
  flush_update();
  // The first call reserves a workspace, which is not allowed during a capture.
  const bool has_side_work = parts_.backend.side_work() != nullptr;
  UpdatePlan plan = parts_.gradients.plan();
  for (std::size_t i = 0; i < rows.size(); ++i) plan.parameters[i].rows_of_ranks = rows[i];
  if (!has_side_work || !parts_.optimizer.defers()) deferral_.reset();
  if (deferral_ && !blocks_.use().blocks.empty()) {
    std::optional<Deferral> served;
    try {
      served = defer_update(plan, inputs);
    } catch (const std::exception& error) {
      if (!is_out_of_memory(error)) throw;
      parts_.backend.release_cached_memory();
    }
    // If deferral fails for a shape, it is given up for all shapes, unless another shape uses it
    // already.
    if (served || !defers_) deferral_ = served;
    defers_ = defers_ || served.has_value();
  }
  return parts_.optimizer.prepare_plan(std::move(plan), /*for_graph=*/true);
}

at::Tensor TrainStep::capture(const StepInputs& inputs,
                              const std::shared_ptr<const StepPlan>& plan) {
  StepCapture capture(parts_.gradients, parts_.optimizer, parts_.reducer, parts_.backend, plan);
  capture_ = &capture;
  const auto end = c10::make_scope_exit([this] { capture_ = nullptr; });
  return enqueue(inputs);
}

void TrainStep::before_replay(const StepPlan& plan) {
  parts_.optimizer.before_replay(plan.update.deferred);
  retry([&] { parts_.optimizer.find_dirty(); });
}

}  // namespace lockstep
