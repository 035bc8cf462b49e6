// Decides which ranges of the flat buffers are updated together, and which scalars an update reads.
#include "training/update/optimizer.h"

#include "core/base/check.h"
#include "planning/options/optimizers.h"
#include "training/update/gather_shards.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

std::vector<std::string> frozen_names(const ParameterStorage& storage) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < storage.frozen().size(); ++i)
    names.push_back(storage.frozen().name(i));
  return names;
}

}  // namespace

Optimizer::Optimizer(const TrainOptions& options, GradientBuffers& gradients, ModelBuffers* buffers)
    : options_(options),
      storage_(gradients.storage()),
      gradients_(gradients),
      parameter_groups_(options, storage_.parameters(), storage_.aliases(), frozen_names(storage_)),
      loss_scale_(options.precision, storage_.master().device()),
      norm_of_sums_(gradients) {
  const at::NoGradGuard no_grad;
  const auto f32 = storage_.master().options();
  state_kinds_ = optimizer_states(options);
  for (const OptimizerState& state : state_kinds_) {
    std::vector<bool> has;
    for (const Granularity one : parameter_groups_.granularities()) has.push_back(state.is_of(one));
    states_.emplace_back(storage_, state.name, std::move(has));
  }
  step_ = at::zeros({1}, f32);
  next_step_ = at::zeros_like(step_);
  norm_ = at::zeros({1}, f32);
  skip_ = at::zeros({1}, f32);
  divisor_ = at::full({1}, 1.0, f32);
  if (options.ema.decay > 0)
    average_ = std::make_unique<WeightAverage>(options.ema.decay, storage_, buffers);
  make_groups();
  rule_ = make_optimizer_rule(options, {.step = step_, .divisor = divisor_, .skip = skip_},
                              storage_.master().device());
  if (rule_->skips_clean() && !options.exact) gradients.dirty().track();
  gradients.use(prepare_plan(gradients.plan()));
  scalars_ = {.raw_norm = at::zeros({1}, f32),
              .loss_scale = loss_scale_.value(),
              .step = step_,
              .norm = norm_,
              .skip = skip_,
              .divisor = divisor_,
              .next_step = next_step_,
              .clip = options.optimizer.clip};
  for (const Group& group : groups_) {
    if (group.rates.constant_lr) continue;
    scalars_.rates.push_back(group.lr);
    scalars_.factors.push_back(static_cast<float>(group.rates.lr_factor));
  }
  scalars_.table = rate_table(scalars_);
}

bool Optimizer::is_matrix(std::size_t parameter) const {
  return parameter_groups_.granularity(parameter) == Granularity::matrix;
}

void Optimizer::make_groups() {
  rates_of_.resize(storage_.parameters().size());
  for (std::size_t i = rates_of_.size(); i-- > 0;) {
    const ParameterRates& rates = parameter_groups_.of(i);
    const auto found = std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) {
      return group.rates == rates && group.matrices == is_matrix(i);
    });
    rates_of_[i] = static_cast<std::size_t>(found - groups_.begin());
    if (found != groups_.end()) continue;
    groups_.push_back({.rates = rates, .matrices = is_matrix(i), .lr = {}});
    groups_.back().lr = at::full({}, rates.constant_lr.value_or(0), storage_.master().options());
  }
}

// Neighbouring ranges with equal properties are joined, so that most groups have few ranges. A
// matrix is always a separate range.
std::vector<UpdateGroup> Optimizer::ranges_of_groups(const UpdatePlan& plan) const {
  std::vector<UpdateGroup> made(plan.groups);
  for (UpdateGroup& one : made)
    for (const Group& group : groups_)
      one.push_back({.lr = group.lr, .weight_decay = group.rates.weight_decay});
  const std::vector<std::size_t> order = storage_.in_order();
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t i = order[k];
    const at::Tensor& sums = gradients_.sums_of(i, plan);
    UpdateRanges& ranges = made[plan.parameters[i].group][rates_of_[i]];
    if (is_matrix(i)) {
      add_matrix(ranges, i, sums);
      continue;
    }
    const auto belongs = [&](std::size_t other) {
      return rates_of_[other] == rates_of_[i] &&
             plan.parameters[other].group == plan.parameters[i].group &&
             gradients_.sums_of(other, plan).is_same(sums);
    };
    std::int64_t end = storage_.places()[i].end;
    while (k + 1 < order.size() && storage_.places()[order[k + 1]].begin == end &&
           belongs(order[k + 1]))
      end = storage_.places()[order[++k]].end;
    add_to(ranges, storage_.places()[i].begin, end, sums);
  }
  for (UpdateGroup& one : made)  // the others are in shards of other ranks, or in other groups
    std::erase_if(one, [](const UpdateRanges& ranges) { return ranges.weights.empty(); });
  return made;
}

std::shared_ptr<const StepPlan> Optimizer::prepare_plan(UpdatePlan plan, bool for_graph) {
  const at::NoGradGuard no_grad;
  StepPlan made{.update = std::move(plan), .zeros = nullptr, .weights = nullptr};
  const std::shared_ptr<const StepPlan> other = for_graph ? graph_plan_.lock() : nullptr;
  if (other != nullptr && other->update.updates_like(made.update)) {
    made.zeros = other->zeros;
    made.weights = other->weights;
  } else {
    made.zeros = std::make_shared<ZeroFill>(storage_, made.update);
    made.weights = rule_->prepare(ranges_of_groups(made.update),
                                  for_graph ? gradients_.dirty().flags() : at::Tensor());
  }
  auto shared = std::make_shared<const StepPlan>(std::move(made));
  if (for_graph) graph_plan_ = shared;
  return shared;
}

// Adds a range of each optimizer state that has this granularity.
template <class Function>
void Optimizer::add_states(UpdateRanges& ranges, Granularity granularity,
                           const Function& range) const {
  std::size_t k = 0;
  for (std::size_t s = 0; s < states_.size(); ++s) {
    if (!state_kinds_[s].is_of(granularity)) continue;
    if (ranges.states.size() == k) ranges.states.emplace_back();
    ranges.states[k++].push_back(range(states_[s]));
  }
}

// Adds the part of elements [begin, end) that this rank updates. sums: holds their gradient sums.
void Optimizer::add_to(UpdateRanges& ranges, std::int64_t begin, std::int64_t end,
                       const at::Tensor& sums) const {
  for (const Shard& shard : storage_.own()) {
    const std::int64_t first = std::max(begin, shard.begin), last = std::min(end, shard.end);
    if (first >= last) continue;
    const auto range = [&](const at::Tensor& flat) {
      return storage_.range(flat, shard, first, last);
    };
    ranges.weights.push_back(range(storage_.master()));
    ranges.gradients.push_back(range(sums));
    add_states(ranges, Granularity::range,
               [&](const StateBuffer& state) { return state.range(first, last); });
    if (storage_.low_precision()) ranges.working.push_back(range(storage_.weights()));
    ranges.steps.push_back(step_);
    ranges.begins.push_back(first);
  }
}

// A matrix is never cut by a shard's border (ParameterStorage), so one rank updates it completely.
void Optimizer::add_matrix(UpdateRanges& ranges, std::size_t parameter,
                           const at::Tensor& sums) const {
  const std::int64_t begin = storage_.places()[parameter].begin;
  const std::int64_t end = begin + storage_.places()[parameter].elements;
  ranges.matrices = true;
  for (const Shard& shard : storage_.own()) {
    if (shard.end <= begin || end <= shard.begin) continue;
    LOCKSTEP_CHECK(shard.begin <= begin && end <= shard.end);
    const auto range = [&](const at::Tensor& flat) {
      return storage_.shaped(storage_.range(flat, shard, begin, end), parameter);
    };
    ranges.weights.push_back(range(storage_.master()));
    ranges.gradients.push_back(range(sums));
    add_states(ranges, Granularity::matrix, [&](const StateBuffer& state) {
      return storage_.shaped(state.range(begin, end), parameter);
    });
    if (storage_.low_precision()) ranges.working.push_back(range(storage_.weights()));
    ranges.steps.push_back(step_);
    ranges.begins.push_back(begin);
  }
}

void Optimizer::find_dirty() {
  if (gradients_.dirty().is_known()) return;
  std::vector<at::Tensor> flats;
  for (const StateBuffer& state : states_) flats.push_back(state.flat());
  gradients_.find_dirty(std::move(flats));
}

void Optimizer::begin_weights() { gradients_.step_plan()->weights->begin(); }

void Optimizer::update_group(std::size_t group) { gradients_.step_plan()->weights->update(group); }

std::optional<DeferredRows> Optimizer::deferred_rows(std::size_t group) const {
  return gradients_.step_plan()->weights->deferred_rows(group);
}

void Optimizer::update_weights() {
  begin_weights();
  for (std::size_t group = 0; group < gradients_.plan().groups; ++group) update_group(group);
}

void Optimizer::before_replay(bool begins) {
  if (!begins) return flush_update();
  if (!update_is_deferred_)
    skip_.fill_(1);  // weights are up to date, so the graph's update must change nothing
  update_is_deferred_ = true;
}

void Optimizer::flush_update() {
  if (!update_is_deferred_) return;
  update_weights();
  update_is_deferred_ = false;
}

void Optimizer::prepare(const at::Tensor& lr, const at::Tensor& dropped) {
  const at::NoGradGuard no_grad;
  norm_of_sums_.find(scalars_.raw_norm[0]);
  find_update_scalars(scalars_, lr, dropped);
  loss_scale_.find_next(skip_, dropped);
  if (average_) average_->prepare(next_step_, skip_);
}

void Optimizer::apply() {
  const at::NoGradGuard no_grad;
  apply_numbers();
  update_weights();
  gather_shards(storage_, storage_.weights());
  if (average_) average_->update();
}

void Optimizer::apply_numbers() {
  const at::NoGradGuard no_grad;
  forget_prepared();
  step_.copy_(next_step_);
  loss_scale_.apply();
}

void Optimizer::step(const at::Tensor& lr, const at::Tensor& dropped) {
  prepare(lr, dropped);
  apply();
}

void Optimizer::step(double lr) { step(at::full({}, lr, norm_.options())); }

std::map<std::string, at::Tensor> Optimizer::flat_state() const {
  std::map<std::string, at::Tensor> flats;
  for (const StateBuffer& state : states_) flats.emplace(state.name(), state.flat());
  return flats;
}

std::map<std::string, at::Tensor> Optimizer::scalar_state() const {
  return {{"step", step_}, {"loss_scale", loss_scale_.value()}, {"growth", loss_scale_.growth()}};
}

}  // namespace lockstep
