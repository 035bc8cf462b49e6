// One step in the order of its events; what each is made of is another file's.
#include "training/step/train_step.h"

#include "backends/exception_text.h"
#include "backends/out_of_memory.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "training/gradients/row_exchange.h"
#include "training/step/compute_dtype.h"
#include "training/step/loss_guard.h"
#include "training/step/rank_statistics.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <utility>

namespace lockstep {
TrainStep::TrainStep(const StepParts& parts, const StepNumbers& numbers, MemoryReserve& reserve)
    : parts_(parts),
      numbers_(numbers),
      reserve_(reserve),
      gradients_(parts.gradients, parts.reducer, parts.group, parts.options.exact),
      update_(parts.gradients, parts.optimizer, parts.options.graph == GraphMode::automatic),
      terms_(parts.recipe.terms().size()),
      logged_(parts.recipe.logged()),
      statistics_of_ranks_(statistics_of_ranks(parts.options, parts.group)),
      stamps_(at::zeros({2}, parts.gradients.storage().master().options().dtype(at::kDouble))),
      dropped_(at::zeros({1}, stamps_.options())) {}

template <class Function>
auto TrainStep::retry(const Function& function) {
  return recording_ ? function() : reserve_.retry(function);
}

// While it lives forward passes are made whose results nobody uses, and which a graph could have:
// nothing stays of them.
class TrainStep::Trial {
 public:
  explicit Trial(TrainStep& step) : step_(step) { step.trying_ = true; }
  ~Trial() {
    step_.trying_ = false;
    step_.parts_.gradients.drop();
    step_.parts_.buffers.undo();
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

 private:
  TrainStep& step_;
};

// While it lives a graph is recorded.
class TrainStep::Recording {
 public:
  Recording(TrainStep& step, bool begins_with_update) : step_(step) {
    step.side_ = step.parts_.backend.side_work();
    step.second_side_ = step.parts_.backend.side_work(/*second=*/true);
    step.begins_with_update_ = begins_with_update;
    step.recording_ = true;
    step.touched_known_ = false;
    step.parts_.optimizer.pass_over_untouched(true);
    step.parts_.reducer.rows().begin();
    // In fp32 autograd adds to the gradients itself.
    if (step.parts_.gradients.storage().low_precision())
      step.parts_.gradients.make_beside(step.side_.get());
  }
  ~Recording() {
    // One that failed joins what runs beside, too, where the device still lets it.
    try {
      for (SideWork* const side : {step_.side_.get(), step_.second_side_.get()})
        if (side != nullptr) side->wait_for_all();
    } catch (const std::exception&) {
    }
    step_.parts_.gradients.make_beside(nullptr);
    step_.parts_.reducer.rows().end();
    step_.update_.end_recording();
    step_.parts_.optimizer.pass_over_untouched(false);
    step_.side_.reset();
    step_.second_side_.reset();
    step_.early_numbers_ = {};
    step_.recording_ = step_.begins_with_update_ = false;
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  TrainStep& step_;
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
Batch TrainStep::batch_of(const StepInputs& inputs, std::size_t m) const {
  const std::vector<at::Tensor>& fields = inputs.micro[m];
  return {.tensors = {fields.begin(), fields.end() - 2},
          .row_weight = fields[fields.size() - 2],
          .first_global_row = inputs.first_global_rows[m],
          .host_part = inputs.host_parts[m],
          .recorded = recording_ || trying_};
}

std::vector<at::Tensor> TrainStep::loss_of(const Batch& batch, StepContext& context) {
  const LossGuard guard(parts_.gradients);
  std::vector<at::Tensor> sums = parts_.recipe.loss(parts_.model, batch, context);
  guard.check_weights();
  return sums;
}

// The sum of each term, f32 [terms].
at::Tensor TrainStep::forward(const StepInputs& inputs, std::size_t m, StepContext& context,
                              const at::Tensor& sums) {
  context.logged_names = logged_;
  context.logged = numbers_.logged(sums);
  const std::vector<at::Tensor> terms = loss_of(batch_of(inputs, m), context);
  if (terms.size() != terms_)
    throw Error(cat("the recipe must return ", terms_, " loss terms, but returned ", terms.size()));
  // All terms at once: on a GPU a step of a small model is made of launches.
  std::vector<at::Tensor> of_terms;
  for (const at::Tensor& term : terms) of_terms.push_back(term.to(at::kFloat));
  return at::stack(of_terms);
}

void TrainStep::forward_backward(const StepInputs& inputs, std::size_t m,
                                 const StepFactors& factors, const at::Tensor& sums, bool last,
                                 bool searching) {
  enter(Phase::forward);
  StepContext context = context_of(inputs.micro[m].back(), factors);
  if (searching) context.statistics_of_ranks = without_the_others(statistics_of_ranks_);
  if (begins_with_update_) {
    context.before_block = [this](std::int64_t block, const auto&) { update_.wait_for(block); };
  } else if (!recording_ && !searching) {
    update_.begin_forward();
    context.before_block = [this](std::int64_t block, const std::vector<at::Tensor>& parameters) {
      update_.see(block, parameters);
    };
  }
  const at::Tensor each = forward(inputs, m, context, sums);
  numbers_.terms(sums).add_(each.detach().mul(factors.factors));
  // A recording that fails is none, so nothing that is still to come changes them.
  if (recording_ && last) early_numbers_ = sum_numbers(inputs, sums, Phase::none);
  if (begins_with_update_) update_.wait_for_blocks();
  gradients_.begin_backward(last);
  enter(Phase::backward);
  each.backward(context.gradient_scale);
}

// Where memory ran out; none: nowhere.
Phase TrainStep::forward_backward_all(const StepInputs& inputs, const StepFactors& factors,
                                      const at::Tensor& sums) {
  try {
    for (std::size_t m = 0; m < inputs.micro.size(); ++m) {
      const bool last = m + 1 == inputs.micro.size();
      forward_backward(inputs, m, factors, sums, last);
      gradients_.end_backward(last);
    }
    return Phase::none;
  } catch (const std::exception& error) {
    if (recording_ || !is_out_of_memory(error)) throw;
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

void TrainStep::sum_gradients(Phase& failed) {
  enter(Phase::reduction);
  Reducer::Summed summed;
  if (parts_.group.size() > 1 && parts_.gradients.storage().sharing() == nullptr)
    summed = [this](const at::Tensor& range) {
      parts_.optimizer.find_norm_of(range, /*now=*/recording_);
    };
  try {
    gradients_.finish(summed);
    return;
  } catch (const std::exception& error) {
    if (recording_ || !is_out_of_memory(error)) throw;
    reserve_.free_after(error);
  }
  failed = phase_;
  parts_.optimizer.forget_prepared();
  gradients_.finish(summed);
}

at::Tensor TrainStep::enqueue(const StepInputs& inputs) {
  Optimizer& optimizer = parts_.optimizer;
  if (begins_with_update_)
    update_.enqueue(*side_, *second_side_,
                    [this](std::size_t part) { parts_.gradients.zero_part(part); });
  else if (!recording_)
    settle();
  if (!recording_) touched_known_ = false;
  parts_.buffers.remember();
  gradients_.begin_step(inputs.accumulation, recording_, begins_with_update_);
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
  if (failed != Phase::none) gradients_.skip_rest();
  retry([&] { parts_.backend.stamp(stamps_[0]); });
  sum_gradients(failed);
  const NumbersSum numbers =
      recording_ ? std::exchange(early_numbers_, {}) : sum_numbers(inputs, sums, failed);
  numbers.pending->wait();
  retry([&] { parts_.backend.stamp(stamps_[1]); });
  retry([&] { numbers_.find_dropped(numbers.sum, dropped_); });
  retry([&] { optimizer.prepare(inputs.lr, dropped_); });
  retry([&] { dropped_.add_(optimizer.not_finite()); });
  retry([&] { parts_.buffers.undo(optimizer.skipped()); });
  enter_phase(Phase::update);
  if (begins_with_update_)
    optimizer.apply_numbers();
  else
    optimizer.apply();
  return retry([&] {
    return whole_numbers(numbers.sum, optimizer.gradient_norm(), optimizer.loss_scale(), dropped_,
                         stamps_);
  });
}

bool TrainStep::may_begin_with_update(const StepInputs& inputs) {
  settle();
  if (parts_.backend.side_work() == nullptr || !update_.cut()) return false;
  parts_.buffers.remember();
  const Trial trial(*this);
  // All that a forward pass gives: terms, what it logs, buffers.
  const auto forward_alone = [&](const DeferredUpdate::BeforeBlock& before_block) {
    parts_.buffers.undo();
    StepContext context = context_of(inputs.micro[0].back(),
                                     step_factors(inputs.weights, parts_.optimizer.loss_scale()));
    context.statistics_of_ranks = without_the_others(statistics_of_ranks_);
    context.before_block = [&](std::int64_t block, const auto&) { before_block(block); };
    const at::Tensor sums = numbers_.new_sums(stamps_.options());
    std::vector<at::Tensor> all{forward(inputs, 0, context, sums).detach().to(at::kDouble), sums};
    for (const NamedTensor& buffer : parts_.buffers.tensors())
      all.push_back(buffer.tensor.detach().flatten().to(at::kDouble));
    return at::cat(all);
  };
  bool may = false;
  try {
    may = update_.waits_for_blocks(forward_alone) ||
          (update_.cut_tables_early() && update_.waits_for_blocks(forward_alone)) ||
          (update_.cut_early() && update_.waits_for_blocks(forward_alone));
    if (may && !update_.reads_tables_well()) update_.cut_tables_early();
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
    parts_.backend.release_cached_memory();
  }
  if (may)
    gradients_.cut_zeros(update_.part_of());
  else
    update_.give_up();
  return may;
}

void TrainStep::before_replay(bool begins_with_update) {
  update_.before_replay(begins_with_update);
  if (!touched_known_) retry([&] { parts_.optimizer.find_touched(); });
  touched_known_ = true;
}

std::vector<std::int64_t> TrainStep::row_counts() const { return parts_.reducer.rows().counts(); }

// Exact sums have an order of their own.
void TrainStep::agree_on_rows(const std::vector<std::int64_t>& counts) {
  if (!parts_.options.exact) parts_.reducer.rows().agree(counts);
}

at::Tensor TrainStep::record(const StepInputs& inputs, bool begins_with_update) {
  const Recording recording(*this, begins_with_update);
  return enqueue(inputs);
}

void TrainStep::forget_unfinished() {
  gradients_.reset();
  parts_.optimizer.forget_prepared();
}

void TrainStep::reset() {
  const at::NoGradGuard no_grad;
  dropped_.zero_();
  reserve_.take();
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
  forward_backward(inputs, m, factors, sums, /*last=*/false, /*searching=*/true);
  const std::vector<std::string> terms = parts_.recipe.terms();
  for (std::size_t term = 0; term < terms_; ++term)
    if (!is_finite(sums[static_cast<std::int64_t>(term)]))
      return cat("the term ", terms[term], " of the loss");
  parts_.gradients.place();
  const std::string name = gradient_not_finite(parts_.gradients);
  return name.empty() ? "" : cat("the gradient of ", name);
}

}  // namespace lockstep
