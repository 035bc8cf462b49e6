// One step in the order of its events; what each is made of is another file's.
#include "training/step/train_step.h"

#include "backends/exception_text.h"
#include "backends/out_of_memory.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "training/step/compute_dtype.h"
#include "training/step/loss_guard.h"
#include "training/step/rank_statistics.h"
#include "training/update/deferred_update.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <optional>
#include <utility>

namespace lockstep {
TrainStep::TrainStep(const StepParts& parts, const StepNumbers& numbers, MemoryReserve& reserve)
    : parts_(parts),
      numbers_(numbers),
      reserve_(reserve),
      reduction_(parts.options.exact ? make_exact_reduction(parts.gradients, parts.group)
                                     : make_bucket_reduction(parts.gradients, parts.reducer)),
      blocks_(parts.gradients.storage()),
      // Shards and an average follow the update at once.
      may_defer_(parts.options.graph == GraphMode::automatic &&
                 parts.gradients.storage().sharing() == nullptr &&
                 parts.optimizer.average() == nullptr),
      terms_(parts.recipe.terms().size()),
      logged_(parts.recipe.logged()),
      statistics_of_ranks_(statistics_of_ranks(parts.options, parts.group)),
      stamps_(at::zeros({2}, parts.gradients.storage().master().options().dtype(at::kDouble))),
      dropped_(at::zeros({1}, stamps_.options())) {}

template <class Function>
auto TrainStep::retry(const Function& function) {
  return capture_ != nullptr ? function() : reserve_.retry(function);
}

// While it lives forward passes are made whose results nobody uses, and which a graph could have:
// nothing stays of them.
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

// While it lives a graph is captured: steps follow its plan, and work runs on side streams.
class TrainStep::Capture {
 public:
  Capture(TrainStep& step, const std::shared_ptr<const StepPlan>& plan)
      : step_(step),
        eager_(step.parts_.gradients.step_plan()),
        side_(step.parts_.backend.side_work()),
        second_side_(step.parts_.backend.side_work(/*second=*/true)) {
    step.capture_ = this;
    step.touched_known_ = false;
    step.parts_.gradients.use(plan);
    step.parts_.reducer.rows().begin();
    // In fp32 autograd adds to the gradients itself.
    if (step.parts_.gradients.storage().low_precision())
      step.parts_.gradients.make_beside(side_.get());
  }
  ~Capture() {
    // One that failed joins what runs beside, too, where the device still lets it.
    try {
      for (SideWork* const side : {side_.get(), second_side_.get()})
        if (side != nullptr) side->wait_for_all();
    } catch (const std::exception&) {
    }
    step_.parts_.gradients.make_beside(nullptr);
    step_.parts_.reducer.rows().end();
    update_.reset();
    step_.parts_.gradients.use(eager_);
    step_.capture_ = nullptr;
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  void begin_update() {
    if (step_.parts_.gradients.plan().deferred)
      update_.emplace(step_.parts_.gradients, step_.parts_.optimizer, *side_, *second_side_);
  }
  std::optional<DeferredUpdate>& update() { return update_; }
  // The step metrics, under way since the last forward pass.
  NumbersSum& numbers() { return numbers_; }

 private:
  TrainStep& step_;
  std::shared_ptr<const StepPlan> eager_;
  std::unique_ptr<SideWork> side_, second_side_;
  std::optional<DeferredUpdate> update_;
  NumbersSum numbers_;
};

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

// Micro-batch m.
Batch TrainStep::batch_of(const StepInputs& inputs, std::size_t m, bool recorded) const {
  const std::vector<at::Tensor>& fields = inputs.micro[m];
  return {.tensors = {fields.begin(), fields.end() - 2},
          .row_weight = fields[fields.size() - 2],
          .first_global_row = inputs.first_global_rows[m],
          .host_part = inputs.host_parts[m],
          .recorded = recorded};
}

std::vector<at::Tensor> TrainStep::loss_of(const Batch& batch, StepContext& context) {
  const LossGuard guard(parts_.gradients);
  std::vector<at::Tensor> sums = parts_.recipe.loss(parts_.model, batch, context);
  guard.check_weights();
  return sums;
}

// The sum of each term, f32 [terms].
at::Tensor TrainStep::forward(const StepInputs& inputs, std::size_t m, StepContext& context,
                              const at::Tensor& sums, bool recorded) {
  context.logged_names = logged_;
  context.logged = numbers_.logged(sums);
  const std::vector<at::Tensor> terms = loss_of(batch_of(inputs, m, recorded), context);
  if (terms.size() != terms_)
    throw Error(cat("the recipe must return ", terms_, " loss terms, but returned ", terms.size()));
  // All terms at once: on a GPU a step of a small model is made of launches.
  std::vector<at::Tensor> of_terms;
  for (const at::Tensor& term : terms) of_terms.push_back(term.to(at::kFloat));
  return at::stack(of_terms);
}

void TrainStep::forward_backward(const StepInputs& inputs, std::size_t m,
                                 const StepFactors& factors, const at::Tensor& sums, bool last,
                                 Pass pass) {
  enter(Phase::forward);
  StepContext context = context_of(inputs.micro[m].back(), factors);
  DeferredUpdate* const update =
      pass == Pass::of_capture && capture_->update() ? &*capture_->update() : nullptr;
  if (pass == Pass::of_search)
    context.statistics_of_ranks = without_the_others(statistics_of_ranks_);
  if (update != nullptr)
    context.before_block = [update](std::int64_t block, const auto&) { update->wait_for(block); };
  if (pass == Pass::of_step && may_defer_) {
    blocks_.begin_forward();
    context.before_block = [this](std::int64_t block, const std::vector<at::Tensor>& parameters) {
      blocks_.see(block, parameters);
    };
  }
  const at::Tensor each = forward(inputs, m, context, sums, pass == Pass::of_capture);
  numbers_.terms(sums).add_(each.detach().mul(factors.factors));
  // A capture that fails is none, so nothing that is still to come changes them.
  if (pass == Pass::of_capture && last)
    capture_->numbers() = sum_numbers(inputs, sums, Phase::none);
  if (update != nullptr) update->end_forward();
  reduction_->begin_backward(last);
  enter(Phase::backward);
  each.backward(context.gradient_scale);
}

// Where memory ran out; none: nowhere.
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

TrainStep::NumbersSum TrainStep::sum_numbers(const StepInputs& inputs, const at::Tensor& sums,
                                             Phase failed) {
  const at::NoGradGuard no_grad;
  const at::Tensor sum = retry([&] { return numbers_.own(inputs.report, sums, dropped_, failed); });
  return {.sum = sum, .pending = parts_.group.all_reduce(sum)};
}

// The first whole step showed how gradients come; this one already reads sums by it.
void TrainStep::make_plan() {
  const GradientBuffers& gradients = parts_.gradients;
  const UpdateFacts facts{
      .low_precision = gradients.storage().low_precision(),
      .exact = parts_.options.exact,
      .sharded = gradients.storage().sharing() != nullptr,
      .reads_low_sums = gradients.sums().defined() && parts_.optimizer.reads_low_sums()};
  const std::vector<GradientObservation> seen = gradients.observed();
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
  if (capture_ != nullptr) {
    capture_->begin_update();
  } else {
    settle();
    touched_known_ = false;
  }
  parts_.buffers.remember();
  reduction_->begin_step(inputs.accumulation);
  // A term that weighs nothing gives no gradient.
  StepFactors factors;
  at::Tensor sums;
  retry([&] {
    const at::NoGradGuard no_grad;
    factors = step_factors(inputs.weights, optimizer.loss_scale());
    // In f64, in which a few f32 numbers add up without rounding, in whatever order.
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
  const NumbersSum numbers = capture_ != nullptr ? std::exchange(capture_->numbers(), {})
                                                 : sum_numbers(inputs, sums, failed);
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
    return whole_numbers(numbers.sum, optimizer.gradient_norm(), optimizer.loss_scale(), dropped_,
                         stamps_);
  });
}

// Makes the groups of a graph that begins with an update. False: such a graph would be wrong, and
// the plan is as it was.
bool TrainStep::defer_update(UpdatePlan& plan, const StepInputs& inputs) {
  if (!may_defer_ || parts_.backend.side_work() == nullptr || blocks_.use().blocks.empty())
    return false;
  const Trial passes(*this);
  // All that a forward pass gives: terms, what it logs, buffers.
  const auto forward_alone = [&](const BeforeBlock& before_block) {
    parts_.buffers.undo();
    StepContext context = context_of(inputs.micro[0].back(),
                                     step_factors(inputs.weights, parts_.optimizer.loss_scale()));
    context.statistics_of_ranks = without_the_others(statistics_of_ranks_);
    context.before_block = [&](std::int64_t block, const auto&) { before_block(block); };
    const at::Tensor sums = numbers_.new_sums(stamps_.options());
    std::vector<at::Tensor> all{
        forward(inputs, 0, context, sums, /*recorded=*/true).detach().to(at::kDouble), sums};
    for (const NamedTensor& buffer : parts_.buffers.tensors())
      all.push_back(buffer.tensor.detach().flatten().to(at::kDouble));
    return at::cat(all);
  };
  const std::vector<bool> large_sparse = parts_.gradients.large_sparse();
  std::optional<UpdatePlan> tried;
  for (const Deferral how :
       {Deferral::sparse_behind_reader, Deferral::sparse_first, Deferral::all_first}) {
    UpdatePlan next = plan;
    lockstep::defer_update(next, blocks_.use(), large_sparse, how);
    if (tried && next == *tried) continue;
    const DeferralTrial trial = try_deferral(next, parts_.gradients, forward_alone);
    if (trial.waits_for_blocks) {
      if (!trial.reads_sparse_once)
        lockstep::defer_update(next, blocks_.use(), large_sparse, Deferral::sparse_first);
      plan = std::move(next);
      return true;
    }
    tried = std::move(next);
  }
  return false;
}

std::shared_ptr<const StepPlan> TrainStep::plan_graph(const StepInputs& inputs,
                                                      const RowExchange::AgreedRows& rows) {
  settle();
  UpdatePlan plan = parts_.gradients.plan();
  for (std::size_t i = 0; i < rows.size(); ++i) plan.parameters[i].rows_of_ranks = rows[i];
  try {
    may_defer_ = defer_update(plan, inputs);
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
    may_defer_ = false;
    parts_.backend.release_cached_memory();
  }
  return parts_.optimizer.prepare_plan(std::move(plan), /*for_graph=*/true);
}

void TrainStep::before_replay(const StepPlan& plan) {
  parts_.optimizer.before_replay(plan.update.deferred);
  if (!touched_known_) retry([&] { parts_.optimizer.find_touched(); });
  touched_known_ = true;
}

std::vector<std::int64_t> TrainStep::row_counts() const { return parts_.reducer.rows().counts(); }

// Exact sums have an order of their own.
RowExchange::AgreedRows TrainStep::agree_on_rows(const std::vector<std::int64_t>& counts) {
  if (parts_.options.exact) return {};
  return parts_.reducer.rows().agree(counts);
}

at::Tensor TrainStep::record(const StepInputs& inputs,
                             const std::shared_ptr<const StepPlan>& plan) {
  const Capture capture(*this, plan);
  return enqueue(inputs);
}

void TrainStep::forget_unfinished() {
  reduction_->reset();
  parts_.optimizer.forget_prepared();
}

// Later steps may have other micro-batches, so the plan is made anew.
void TrainStep::reset() {
  const at::NoGradGuard no_grad;
  dropped_.zero_();
  reserve_.take();
  parts_.gradients.use(parts_.optimizer.prepare_plan(
      plan_before_warm_up(parts_.gradients.storage().parameters().size())));
}

NotFinite TrainStep::find_not_finite(const StepInputs& inputs) {
  if (const std::string name = weights_not_finite(parts_.gradients.storage()); !name.empty())
    return {.tensor = cat("the weights ", name), .in_weights = true};
  parts_.buffers.remember();
  const StepFactors factors = step_factors(inputs.weights, parts_.optimizer.loss_scale());
  NotFinite found;
  for (std::size_t m = 0; m < inputs.micro.size() && !found.found(); ++m)
    found = {.micro_batch = static_cast<std::int64_t>(m),
             .tensor = first_not_finite(inputs, m, factors)};
  parts_.gradients.drop();
  parts_.buffers.undo();
  return found;
}

// The first tensor of micro-batch m that is not finite; empty: none.
std::string TrainStep::first_not_finite(const StepInputs& inputs, std::size_t m,
                                        const StepFactors& factors) {
  const std::vector<at::Tensor>& fields = inputs.micro[m];
  for (std::size_t f = 0; f + 2 < fields.size(); ++f)
    if (!is_finite(fields[f])) return cat("field ", f, " of the samples");
  parts_.gradients.drop();
  const at::Tensor sums = numbers_.new_sums(stamps_.options());
  forward_backward(inputs, m, factors, sums, /*last=*/false, Pass::of_search);
  const std::vector<std::string> terms = parts_.recipe.terms();
  for (std::size_t term = 0; term < terms_; ++term)
    if (!is_finite(sums[static_cast<std::int64_t>(term)]))
      return cat("the term ", terms[term], " of the loss");
  parts_.gradients.place();
  const std::string name = gradient_not_finite(parts_.gradients);
  return name.empty() ? "" : cat("the gradient of ", name);
}

}  // namespace lockstep
