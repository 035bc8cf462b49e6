// Which ranges of the flat buffers are updated together, and the scalars that an update reads.
#include "engine/optimizer.h"

#include "engine/gather_shards.h"
#include "plan/optimizers.h"

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
  for (const std::string& name : optimizer_states(options))
    states_.emplace_back(name, at::zeros({storage_.own_elements()}, f32));
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
  if (rule_->skips_clean() && !options.exact) gradients.watch_tables();
  if (rule_->reads_low_sums()) gradients.leave_sums();
  cut(std::vector<std::size_t>(storage_.parameters().size(), 0));
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

std::size_t Optimizer::group_of(std::size_t parameter) {
  const ParameterRates& rates = parameter_groups_.of(parameter);
  for (std::size_t g = 0; g < groups_.size(); ++g)
    if (groups_[g].rates == rates) return g;
  groups_.push_back({.rates = rates});
  groups_.back().lr = at::full({}, rates.constant_lr.value_or(0), storage_.master().options());
  return groups_.size() - 1;
}

void Optimizer::make_groups() {
  for (std::size_t i = storage_.parameters().size(); i-- > 0;) group_of(i);
}

// Neighbours in memory with equal properties become one range, so that most parts have few.
void Optimizer::cut(const std::vector<std::size_t>& part_of) {
  const at::NoGradGuard no_grad;
  std::vector<UpdateGroup> parts(*std::max_element(part_of.begin(), part_of.end()) + 1);
  for (UpdateGroup& part : parts)
    for (const Group& group : groups_)
      part.push_back({.lr = group.lr, .weight_decay = group.rates.weight_decay});
  for (std::size_t i = storage_.parameters().size(); i-- > 0;) {
    const std::int64_t begin = storage_.places()[i].begin;
    std::size_t last = i;  // extend over following neighbours (lower registration indexes)
    while (last > 0 && group_of(last - 1) == group_of(i) && part_of[last - 1] == part_of[i] &&
           gradients_.sums_of(last - 1).is_same(gradients_.sums_of(i)))
      --last;
    add_to(parts[part_of[i]][group_of(i)], begin, storage_.places()[last].end,
           gradients_.sums_of(i));
    i = last;
  }
  for (UpdateGroup& part : parts)  // the others are in other ranks' shards, or in other parts
    std::erase_if(part, [](const UpdateRanges& ranges) { return ranges.weights.empty(); });
  const std::size_t count = parts.size();
  rule_->set_groups(std::move(parts));  // before anything changes: memory may run out
  parts_ = count;
  part_of_ = part_of;
  reads_sums_ = gradients_.leaves_sums();
}

// Adds the part of elements [begin, end) that this rank updates; their sum is in `sums`.
void Optimizer::add_to(UpdateRanges& ranges, std::int64_t begin, std::int64_t end,
                       const at::Tensor& sums) {
  ranges.states.resize(states_.size());
  for (const Shard& shard : storage_.own()) {
    const std::int64_t first = std::max(begin, shard.begin), last = std::min(end, shard.end);
    if (first >= last) continue;
    const auto range = [&](const at::Tensor& flat) {
      return storage_.range(flat, shard, first, last);
    };
    ranges.weights.push_back(range(storage_.master()));
    ranges.gradients.push_back(range(sums));
    for (std::size_t k = 0; k < states_.size(); ++k)
      ranges.states[k].push_back(range(states_[k].second));
    if (storage_.low_precision()) ranges.working.push_back(range(storage_.weights()));
    ranges.steps.push_back(step_);
    ranges.begins.push_back(first);
  }
}

void Optimizer::pass_over_untouched(bool on) {
  rule_->skip_clean(on ? gradients_.touched() : at::Tensor());
}

void Optimizer::find_touched() {
  std::vector<at::Tensor> flats;
  for (const auto& [name, flat] : states_) flats.push_back(flat);
  gradients_.find_touched(flats);
}

void Optimizer::begin_weights() { rule_->begin(); }
void Optimizer::update_part(std::size_t part) { rule_->update(part); }

std::optional<OwedRows> Optimizer::owed_rows(std::size_t part) const {
  return rule_->owed_rows(part);
}

void Optimizer::update_weights() {
  begin_weights();
  for (std::size_t part = 0; part < parts_; ++part) update_part(part);
}

void Optimizer::prepare(const at::Tensor& lr, const at::Tensor& dropped) {
  const at::NoGradGuard no_grad;
  if (reads_sums_ != gradients_.leaves_sums()) cut(std::vector(part_of_));
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
  return {states_.begin(), states_.end()};
}

std::map<std::string, at::Tensor> Optimizer::scalar_state() const {
  return {{"step", step_}, {"loss_scale", loss_scale_.value()}, {"growth", loss_scale_.growth()}};
}

}  // namespace lockstep
