// The order of events in one step. Other files implement these events.
#include "training/step/train_step.h"

#include "backends/exception_text.h"
#include "backends/out_of_memory.h"
#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "training/step/compute_dtype.h"
#include "training/step/loss_guard.h"
#include "training/step/rank_statistics.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <utility>

namespace lockstep {

TrainStep::TrainStep(const StepParts& parts, const StepMetrics& numbers, MemoryReserve& reserve)
    : parts_(parts),
      numbers_(numbers),
      reserve_(reserve),
      reduction_(parts.options.exact ? make_exact_reduction(parts.gradients, parts.group)
                                     : make_bucket_reduction(parts.gradients, parts.reducer)),
      blocks_(parts.gradients.storage()),
      first_plan_(parts.gradients.step_plan()),
      terms_(parts.recipe.terms().size()),
      logged_(parts.recipe.logged()),
      statistics_of_ranks_(statistics_of_ranks(parts.options, parts.group)),
      stamps_(at::zeros({2}, parts.gradients.storage().master().options().dtype(at::kDouble))),
      dropped_(at::zeros({1}, stamps_.options())) {
  // With a sharded optimizer or a weight average the update cannot be deferred. The gather of
  // shards or the average must follow it at once.
  if (parts.options.graph == GraphMode::automatic &&
      parts.gradients.storage().sharing() == nullptr && parts.optimizer.average() == nullptr)
    deferral_ = Deferral::sparse_behind_reader;
}

void TrainStep::enter(Phase phase) {
  phase_ = phase;
  enter_phase(phase);
}

StepContext TrainStep::context_of(const at::Tensor& counters, const StepFactors& factors) const {
  StepContext context;
  context.compute_dtype = compute_dtype(parts_.options.precision);
  context.device = parts_.backend.device();
  context.recomputed_blocks = parts_.recomputed_blocks;
  context.counters = counters;
  context.frozen_statistics = parts_.options.norm.statistics == NormStatistics::frozen;
  context.statistics_of_ranks = statistics_of_ranks_;
  context.gradient_scale = factors.scales;
  return context;
}

// Returns micro-batch m.
Batch TrainStep::batch_of(const StepInputs& inputs, std::size_t m, bool captured) const {
  const std::vector<at::Tensor>& fields = inputs.micro[m];
  return {.tensors = {fields.begin(), fields.end() - 2},
          .row_weight = fields[fields.size() - 2],
          .first_global_row = inputs.first_global_rows[m],
          .host_part = inputs.host_parts[m],
          .captured = captured};
}

std::vector<at::Tensor> TrainStep::loss_of(const Batch& batch, StepContext& context) {
  const LossGuard guard(parts_.gradients);
  std::vector<at::Tensor> sums = parts_.recipe.loss(parts_.model, batch, context);
  guard.check_weights();
  return sums;
}

// Returns the sum of each loss term, f32 [terms].
at::Tensor TrainStep::forward(const StepInputs& inputs, std::size_t m, StepContext& context,
                              const at::Tensor& sums, bool captured) {
  context.logged_names = logged_;
  context.logged = numbers_.logged(sums);
  const std::vector<at::Tensor> terms = loss_of(batch_of(inputs, m, captured), context);
  if (terms.size() != terms_)
    throw Error(cat("the recipe must return ", terms_, " loss terms, but returned ", terms.size()));
  // Stacks all terms with one operation, because a step of a small model is bound by kernel
  // launches.
  std::vector<at::Tensor> of_terms;
  for (const at::Tensor& term : terms) of_terms.push_back(term.to(at::kFloat));
  return at::stack(of_terms);
}

void TrainStep::forward_backward(const StepInputs& inputs, std::size_t m,
                                 const StepFactors& factors, const at::Tensor& sums, bool last,
                                 Pass pass) {
  enter(Phase::forward);
  StepContext context = context_of(inputs.micro[m].back(), factors);
  DeferredUpdate* const update = pass == Pass::of_capture ? capture_->update() : nullptr;
  if (pass == Pass::of_search)
    context.statistics_of_ranks = without_the_others(statistics_of_ranks_);
  if (update != nullptr)
    context.before_block = [update](std::int64_t block, const auto&) { update->wait_for(block); };
  if (pass == Pass::of_step && deferral_) {
    blocks_.begin_forward();
    context.before_block = [this](std::int64_t block, const std::vector<at::Tensor>& parameters) {
      blocks_.see(block, parameters);
    };
  }
  const at::Tensor each = forward(inputs, m, context, sums, pass == Pass::of_capture);
  numbers_.terms(sums).add_(each.detach().mul(factors.factors));
  // In a capture the metrics can be summed already. A later failure discards the capture, so it
  // cannot change them.
  if (pass == Pass::of_capture && last) capture_->numbers = sum_metrics(inputs, sums, Phase::none);
  if (update != nullptr) update->end_forward();
  reduction_->begin_backward(last);
  enter(Phase::backward);
  each.backward(context.gradient_scale);
}

// Returns the phase in which memory ran out, or `none`.
Phase TrainStep::forward_backward_all(const StepInputs& inputs, const StepFactors& factors,
                                      const at::Tensor& sums) {
  try {
    for (std::size_t m = 0; m < inputs.micro.size(); ++m) {
      const bool last = m + 1 == inputs.micro.size();
      forward_backward(inputs, m, factors, sums, last,
                       capture_ != nullptr ? Pass::of_capture : Pass::of_step);
      reduction_->end_backward(last);
    }
    return Phase::none;
  } catch (const std::exception& error) {
    if (capture_ != nullptr || !is_out_of_memory(error)) throw;
    if (statistics_of_ranks_) fail_where_ranks_wait(phase_, first_line_of(error));
    reserve_.free_after(error);
  }
  return phase_;
}

MetricsSum TrainStep::sum_metrics(const StepInputs& inputs, const at::Tensor& sums, Phase failed) {
  const at::NoGradGuard no_grad;
  const at::Tensor sum = retry([&] { return numbers_.own(inputs.report, sums, dropped_, failed); });
  return {.sum = sum, .pending = parts_.group.all_reduce(sum)};
}

// The first complete step has shown how gradients arrive. The same step already reads its gradient
// sums by the new plan.
void TrainStep::make_plan() {
  const GradientBuffers& gradients = parts_.gradients;
  const UpdateFacts facts{
      .low_precision = gradients.storage().low_precision(),
      .exact = parts_.options.exact,
      .sharded = gradients.storage().sharing() != nullptr,
      .reads_low_sums = gradients.sums().defined() && parts_.optimizer.reads_low_sums()};
  const std::vector<ParameterObservation> seen = gradients.observed();
  parts_.gradients.use(
      retry([&] { return parts_.optimizer.prepare_plan(make_update_plan(seen, facts)); }));
}

void TrainStep::reduce_gradients(Phase& failed) {
  enter(Phase::reduction);
  Reducer::Summed summed;
  if (parts_.group.size() > 1 && parts_.gradients.storage().sharing() == nullptr)
    summed = [this](const at::Tensor& range) {
      parts_.optimizer.find_norm_of(range, /*now=*/capture_ != nullptr);
    };
  try {
    reduction_->finish(summed);
    return;
  } catch (const std::exception& error) {
    if (capture_ != nullptr || !is_out_of_memory(error)) throw;
    reserve_.free_after(error);
  }
  failed = phase_;
  parts_.optimizer.forget_prepared();
  reduction_->finish(summed);
}

at::Tensor TrainStep::enqueue(const StepInputs& inputs) {
  Optimizer& optimizer = parts_.optimizer;
  parts_.gradients.dirty().forget();
  if (capture_ != nullptr)
    capture_->begin_step();
  else
    flush_update();
  parts_.buffers.remember();
  reduction_->begin_step(inputs.accumulation);
  // A term with weight 0 contributes no gradient.
  StepFactors factors;
  at::Tensor sums;
  retry([&] {
    const at::NoGradGuard no_grad;
    factors = step_factors(inputs.weights, optimizer.loss_scale());
    // In f64, a few f32 numbers add up without rounding in any order.
    sums = numbers_.new_sums(stamps_.options());
  });
  Phase failed = inputs.out_of_memory;
  if (failed != Phase::none && statistics_of_ranks_) fail_where_ranks_wait(failed);
  if (failed == Phase::none) failed = forward_backward_all(inputs, factors, sums);
  const at::NoGradGuard no_grad;
  if (failed != Phase::none)
    reduction_->skip_rest();
  else if (capture_ == nullptr && !parts_.gradients.plan().observed)
    make_plan();
  retry([&] { parts_.backend.stamp(stamps_[0]); });
  reduce_gradients(failed);
  const MetricsSum numbers = capture_ != nullptr ? std::exchange(capture_->numbers, {})
                                                 : sum_metrics(inputs, sums, failed);
  numbers.pending->wait();
  retry([&] { parts_.backend.stamp(stamps_[1]); });
  retry([&] { numbers_.find_dropped(numbers.sum, dropped_); });
  retry([&] { optimizer.prepare(inputs.lr, dropped_); });
  retry([&] { dropped_.add_(optimizer.not_finite()); });
  retry([&] { parts_.buffers.undo(optimizer.skipped()); });
  enter_phase(Phase::update);
  if (parts_.gradients.plan().deferred)
    optimizer.apply_numbers();
  else
    optimizer.apply();
  return retry([&] {
    return host_metrics(numbers.sum, optimizer.gradient_norm(), optimizer.loss_scale(), dropped_,
                        stamps_);
  });
}

void TrainStep::forget_unfinished() {
  reduction_->reset();
  parts_.optimizer.forget_prepared();
}

void TrainStep::reset() {
  // it would read gradient sums by another plan
  LOCKSTEP_CHECK(!parts_.optimizer.update_is_deferred());
  const at::NoGradGuard no_grad;
  dropped_.zero_();
  reserve_.take();
  parts_.gradients.use(first_plan_);
}

}  // namespace lockstep
