// The fused optimizers of ATen on ranges of the arena.
#include "engine/optimizer.h"

#include "base/check.h"
#include "engine/process_group.h"
#include "kernels/adam.h"
#include "kernels/own_kernels.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace lockstep {
namespace {

constexpr double initial_loss_scale = 65536;
constexpr double scale_growth = 2, scale_backoff = 0.5;
constexpr std::int64_t growth_interval = 2000;  // steps without overflow before the scale doubles

std::vector<std::string> frozen_names(const Arena& arena) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < arena.frozen().size(); ++i) names.push_back(arena.frozen().name(i));
  return names;
}

}  // namespace

Optimizer::Optimizer(const TrainOptions& options, Arena& arena, ModelBuffers* buffers)
    : options_(options),
      arena_(arena),
      parameter_groups_(options, arena.parameters(), arena.aliases(), frozen_names(arena)) {
  const at::NoGradGuard no_grad;
  const auto f32 = arena.master().options();
  first_ = at::zeros({arena.own_elements()}, f32);
  if (options.optimizer.kind != OptimizerKind::sgd) second_ = at::zeros_like(first_);
  step_ = at::zeros({1}, f32);
  norm_ = at::zeros({1}, f32);
  skip_ = at::zeros({1}, f32);
  divisor_ = at::full({1}, 1.0, f32);
  loss_scale_ = at::zeros({1}, f32);
  growth_ = at::zeros({1}, f32.dtype(at::kInt));
  restart_loss_scale();
  next_step_ = at::zeros_like(step_);
  next_scale_ = at::zeros_like(loss_scale_);
  next_growth_ = at::zeros_like(growth_);
  if (options.ema.decay > 0)
    average_ = std::make_unique<WeightAverage>(options.ema.decay, arena, buffers);
  make_groups();
  if (own_kernel_serves()) make_tables();
  scalars_ = {.raw_norm = at::zeros({1}, f32),
              .loss_scale = loss_scale_,
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

void Optimizer::restart_loss_scale() {
  const at::NoGradGuard no_grad;
  loss_scale_.fill_(options_.precision == Precision::fp16 ? initial_loss_scale : 1.0);
  growth_.zero_();
}

// Neighbours in the arena with equal properties become one range, so that most models have few.
void Optimizer::make_groups() {
  const ArenaLayout& layout = arena_.layout();
  const auto group_of = [&](std::size_t i) -> std::size_t {
    const ParameterRates& rates = parameter_groups_.of(i);
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (groups_[g].rates == rates) return g;
    groups_.push_back({.rates = rates});
    groups_.back().lr = at::full({}, rates.constant_lr.value_or(0), arena_.master().options());
    return groups_.size() - 1;
  };
  for (std::size_t i = arena_.parameters().size(); i-- > 0;) {
    const std::int64_t begin = layout.offsets[i];
    std::size_t last = i;  // extend over following neighbours (lower registration indexes)
    while (last > 0 && group_of(last - 1) == group_of(i)) --last;
    const std::int64_t end = last == 0 ? layout.elements : layout.offsets[last - 1];
    add_to(groups_[group_of(i)], begin, end);
    i = last;
  }
}

// What this rank updates of elements [begin, end) of the arena.
void Optimizer::add_to(Group& group, std::int64_t begin, std::int64_t end) {
  for (const Piece& piece : arena_.own()) {
    const std::int64_t first = std::max(begin, piece.begin), last = std::min(end, piece.end);
    if (first >= last) continue;
    const auto range = [&](const at::Tensor& flat) {
      return arena_.range(flat, piece, first, last);
    };
    group.weights.push_back(range(arena_.master()));
    group.gradients.push_back(range(arena_.gradients()));
    group.first.push_back(range(first_));
    if (second_.defined()) group.second.push_back(range(second_));
    if (arena_.low_precision()) group.working.push_back(range(arena_.working()));
    group.steps.push_back(step_);
  }
}

// Where ranks share, each knows the sum of its own pieces only.
void Optimizer::find_norm_of_gradients() {
  at::Tensor norm = scalars_.raw_norm[0];
  if (arena_.sharing() == nullptr) {
    at::linalg_vector_norm_out(norm, arena_.gradients());
    return;
  }
  std::vector<at::Tensor> pieces;
  for (const Piece& piece : arena_.own())
    pieces.push_back(arena_.range(arena_.gradients(), piece, piece.begin, piece.end));
  const at::Tensor squares = at::stack(at::_foreach_norm(pieces)).to(at::kDouble).square().sum();
  arena_.sharing()->all_reduce(squares)->wait();
  // In place: nothing after the sum may run out of memory.
  norm.copy_(at::Tensor(squares).sqrt_());
}

void Optimizer::find_scalars(const at::Tensor& lr, const at::Tensor& dropped) {
  if (!norm_found_) {  // ranks that share find it together, so once
    find_norm_of_gradients();
    norm_found_ = true;
  }
  find_update_scalars(scalars_, lr, dropped);
}

// Our own kernel for Adam: it also writes the working copy.
bool Optimizer::own_kernel_serves() const {
  return arena_.master().is_cuda() && cuda_adam() != nullptr &&
         options_.optimizer.kind != OptimizerKind::sgd;
}

// All ranges with their rates, and the chunks of them, so that one launch serves a step.
void Optimizer::make_tables() {
  std::vector<AdamRange> ranges;
  std::vector<AdamChunk> chunks;
  for (const Group& group : groups_)
    for (std::size_t i = 0; i < group.weights.size(); ++i) {
      AdamRange range{.weights = group.weights[i].mutable_data_ptr<float>(),
                      .first = group.first[i].mutable_data_ptr<float>(),
                      .second = group.second[i].mutable_data_ptr<float>(),
                      .gradients = group.gradients[i].const_data_ptr<float>(),
                      .lr = group.lr.const_data_ptr<float>(),
                      .elements = group.weights[i].numel(),
                      .decay = group.rates.weight_decay};
      LOCKSTEP_CHECK(range.elements % 4 == 0);  // ranges keep the arena's alignment
      if (arena_.low_precision()) range.working = group.working[i].mutable_data_ptr();
      for (std::int64_t begin = 0; begin < range.elements; begin += adam_chunk)
        chunks.push_back({.range = std::ssize(ranges), .begin = begin});
      ranges.push_back(range);
    }
  ranges_ = table_on(arena_.master().device(), ranges);
  chunks_ = table_on(arena_.master().device(), chunks);
  chunk_count_ = std::ssize(chunks);
}

void Optimizer::update_with_own_kernel() {
  const auto& o = options_.optimizer;
  AdamArguments arguments{.ranges = static_cast<const AdamRange*>(ranges_.const_data_ptr()),
                          .chunks = static_cast<const AdamChunk*>(chunks_.const_data_ptr()),
                          .count = chunk_count_,
                          .step = step_.const_data_ptr<float>(),
                          .divisor = divisor_.const_data_ptr<float>(),
                          .skip = skip_.const_data_ptr<float>(),
                          .beta1 = o.beta1,
                          .beta2 = o.beta2,
                          .eps = o.eps,
                          .decoupled = o.kind == OptimizerKind::adamw};
  if (arena_.low_precision() && arena_.working().scalar_type() == at::kHalf)
    arguments.working_dtype = KernelDtype::f16;
  cuda_adam()(arguments);
}

void Optimizer::update(Group& group) {
  const auto& o = options_.optimizer;
  const double decay = group.rates.weight_decay;
  switch (o.kind) {
    case OptimizerKind::adamw:
      at::_fused_adamw_(group.weights, group.gradients, group.first, group.second, {}, group.steps,
                        group.lr, o.beta1, o.beta2, decay, o.eps, /*amsgrad=*/false,
                        /*maximize=*/false, divisor_, skip_);
      return;
    case OptimizerKind::adam:
      at::_fused_adam_(group.weights, group.gradients, group.first, group.second, {}, group.steps,
                       group.lr, o.beta1, o.beta2, decay, o.eps, /*amsgrad=*/false,
                       /*maximize=*/false, divisor_, skip_);
      return;
    case OptimizerKind::sgd:
      // ATen wants no buffers at all where there is no momentum.
      at::_fused_sgd_(group.weights, group.gradients,
                      o.momentum == 0 ? std::vector<at::Tensor>{} : group.first, decay, o.momentum,
                      group.lr,
                      /*dampening=*/0.0, o.nesterov, /*maximize=*/false, /*is_first_step=*/false,
                      divisor_, skip_);
      return;
  }
}

// Of a step that was dropped nothing is learned about the scale.
void Optimizer::find_next_loss_scale(const at::Tensor& dropped) {
  if (options_.precision != Precision::fp16) return;
  next_scale_.copy_(loss_scale_);
  next_growth_.copy_(growth_);
  at::Tensor scale = next_scale_[0], growth = next_growth_[0], skip = skip_[0];
  at::_amp_update_scale_(scale, growth, skip, scale_growth, scale_backoff, growth_interval);
  if (!dropped.defined()) return;
  const at::Tensor keep = dropped.gt(0);
  next_scale_.copy_(at::where(keep, loss_scale_, next_scale_));
  next_growth_.copy_(at::where(keep, growth_, next_growth_));
}

// With a scale above 1 it is the scale's own matter: it shrinks from step to step.
at::Tensor Optimizer::not_finite() const {
  if (options_.precision != Precision::fp16) return skip_;
  return skip_.mul(loss_scale_.le(1));
}

void Optimizer::prepare(const at::Tensor& lr, const at::Tensor& dropped) {
  const at::NoGradGuard no_grad;
  find_scalars(lr, dropped);
  find_next_loss_scale(dropped);
  if (average_) average_->prepare(next_step_, skip_);
}

void Optimizer::apply() {
  const at::NoGradGuard no_grad;
  norm_found_ = false;
  step_.copy_(next_step_);
  if (own_kernel_serves())
    update_with_own_kernel();
  else
    for (Group& group : groups_)
      if (!group.weights.empty()) update(group);  // else all of it is in other ranks' pieces
  if (options_.precision == Precision::fp16) {
    loss_scale_.copy_(next_scale_);
    growth_.copy_(next_growth_);
  }
  if (!own_kernel_serves()) arena_.refresh_working();
  arena_.gather_weights();
  if (average_) average_->update();
}

void Optimizer::step(const at::Tensor& lr, const at::Tensor& dropped) {
  prepare(lr, dropped);
  apply();
}

void Optimizer::step(double lr) { step(at::full({}, lr, norm_.options())); }

std::map<std::string, at::Tensor> Optimizer::flat_state() const {
  if (!second_.defined()) return {{"momentum", first_}};
  return {{"exp_avg", first_}, {"exp_avg_sq", second_}};
}

std::map<std::string, at::Tensor> Optimizer::scalar_state() const {
  return {{"step", step_}, {"loss_scale", loss_scale_}, {"growth", growth_}};
}

}  // namespace lockstep
