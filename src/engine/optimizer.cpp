// The fused optimizers of ATen on ranges of the flat buffers.
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

at::Tensor norm_in_f32(const at::Tensor& gradients) {
  return at::linalg_vector_norm(gradients, 2, at::OptionalIntArrayRef(), false, at::kFloat);
}

constexpr double initial_loss_scale = 65536;
constexpr double scale_growth = 2, scale_backoff = 0.5;
constexpr std::int64_t growth_interval = 2000;  // steps without overflow before the scale doubles

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
      parameter_groups_(options, storage_.parameters(), storage_.aliases(),
                        frozen_names(storage_)) {
  const at::NoGradGuard no_grad;
  const auto f32 = storage_.master().options();
  first_ = at::zeros({storage_.own_elements()}, f32);
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
    average_ = std::make_unique<WeightAverage>(options.ema.decay, storage_, buffers);
  make_groups();
  if (own_kernel_serves() && !options.exact) gradients.watch_tables();
  if (own_kernel_serves()) gradients.leave_sums();
  cut(std::vector<std::size_t>(storage_.parameters().size(), 0));
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
  const ArenaLayout& layout = storage_.layout();
  std::vector<Part> parts(*std::max_element(part_of.begin(), part_of.end()) + 1);
  for (Part& part : parts)
    for (const Group& group : groups_) part.ranges.push_back({.group = &group});
  for (std::size_t i = storage_.parameters().size(); i-- > 0;) {
    const std::int64_t begin = layout.offsets[i];
    std::size_t last = i;  // extend over following neighbours (lower registration indexes)
    while (last > 0 && group_of(last - 1) == group_of(i) && part_of[last - 1] == part_of[i] &&
           gradients_.sums_of(last - 1).is_same(gradients_.sums_of(i)))
      --last;
    add_to(parts[part_of[i]].ranges[group_of(i)], begin, storage_.end_of(last),
           gradients_.sums_of(i));
    i = last;
  }
  for (Part& part : parts)  // the others are in other ranks' pieces, or in other parts
    std::erase_if(part.ranges, [](const Ranges& ranges) { return ranges.weights.empty(); });
  if (own_kernel_serves()) make_tables(parts);  // before anything changes: memory may run out
  parts_ = std::move(parts);
  part_of_ = part_of;
  reads_sums_ = gradients_.leaves_sums();
}

// What this rank updates of elements [begin, end) of the flat buffers, whose sum is in `sums`.
void Optimizer::add_to(Ranges& ranges, std::int64_t begin, std::int64_t end,
                       const at::Tensor& sums) {
  for (const Piece& piece : storage_.own()) {
    const std::int64_t first = std::max(begin, piece.begin), last = std::min(end, piece.end);
    if (first >= last) continue;
    const auto range = [&](const at::Tensor& flat) {
      return storage_.range(flat, piece, first, last);
    };
    ranges.weights.push_back(range(storage_.master()));
    ranges.gradients.push_back(range(sums));
    ranges.first.push_back(range(first_));
    if (second_.defined()) ranges.second.push_back(range(second_));
    if (storage_.low_precision()) ranges.working.push_back(range(storage_.working()));
    ranges.steps.push_back(step_);
    ranges.begins.push_back(first);
  }
}

void Optimizer::find_norm_of(const at::Tensor& gradients, bool now) {
  norms_of_parts_.push_back(
      {.gradients = gradients, .norm = now ? norm_in_f32(gradients) : at::Tensor()});
}

void Optimizer::forget_prepared() {
  norm_found_ = false;
  norms_of_parts_.clear();
}

// Where ranks share, each knows the sum of its own pieces only.
void Optimizer::find_norm_of_gradients() {
  at::Tensor norm = scalars_.raw_norm[0];
  if (!norms_of_parts_.empty()) {
    std::vector<at::Tensor> norms;
    for (const auto& [gradients, found] : norms_of_parts_)
      norms.push_back(found.defined() ? found : norm_in_f32(gradients));
    at::linalg_vector_norm_out(norm, at::stack(norms));
    return;
  }
  if (storage_.sharing() == nullptr) {
    LOCKSTEP_CHECK(!gradients_.leaves_sums());  // that would be told of part by part
    at::linalg_vector_norm_out(norm, gradients_.flat());
    return;
  }
  const at::Tensor& sums = gradients_.sums_of(0);  // as of all, where ranks share
  std::vector<at::Tensor> pieces;
  for (const Piece& piece : storage_.own())
    pieces.push_back(storage_.range(sums, piece, piece.begin, piece.end));
  const at::Tensor squares =
      at::stack(at::_foreach_norm(pieces, 2, at::kFloat)).to(at::kDouble).square().sum();
  storage_.sharing()->all_reduce(squares)->wait();
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
  return storage_.master().is_cuda() && cuda_adam().update != nullptr &&
         options_.optimizer.kind != OptimizerKind::sgd;
}

// All ranges with their rates, and the chunks of them, so that one launch serves a part.
void Optimizer::make_tables(std::vector<Part>& parts) {
  std::vector<AdamRange> ranges;
  std::vector<AdamChunk> chunks;
  // Of several parts each is one of many kernels that share the GPU, so that blocks shall be short.
  const std::int64_t chunk = parts.size() > 1 ? adam_small_chunk : adam_chunk;
  for (Part& part : parts) {
    part.first_range = std::ssize(ranges);
    part.first_chunk = std::ssize(chunks);
    for (const Ranges& of : part.ranges)
      for (std::size_t i = 0; i < of.weights.size(); ++i) {
        AdamRange range{.weights = of.weights[i].mutable_data_ptr<float>(),
                        .first = of.first[i].mutable_data_ptr<float>(),
                        .second = of.second[i].mutable_data_ptr<float>(),
                        .gradients = of.gradients[i].const_data_ptr(),
                        .gradients_dtype = *kernel_dtype(of.gradients[i].scalar_type()),
                        .lr = of.group->lr.const_data_ptr<float>(),
                        .elements = of.weights[i].numel(),
                        .begin = of.begins[i],
                        .decay = of.group->rates.weight_decay};
        LOCKSTEP_CHECK(range.elements % 4 == 0);  // ranges keep the alignment of the layout
        if (storage_.low_precision()) range.working = of.working[i].mutable_data_ptr();
        for (std::int64_t begin = 0; begin < range.elements; begin += chunk)
          chunks.push_back({.range = std::ssize(ranges), .begin = begin});
        ranges.push_back(range);
      }
    part.last_chunk = std::ssize(chunks);
  }
  const at::Tensor of_ranges = table_on(storage_.master().device(), ranges);
  const at::Tensor of_chunks = table_on(storage_.master().device(), chunks);
  const at::Tensor factors = at::zeros({std::ssize(ranges), adam_factors}, step_.options());
  for (const at::Tensor& table : {ranges_, chunks_, factors_})
    if (table.defined()) earlier_.push_back(table);
  ranges_ = of_ranges;
  chunks_ = of_chunks;
  factors_ = factors;
  chunk_ = chunk;
}

// Of all parts.
AdamArguments Optimizer::adam_arguments() const {
  const auto& o = options_.optimizer;
  AdamArguments arguments{.ranges = static_cast<const AdamRange*>(ranges_.const_data_ptr()),
                          .range_count = factors_.size(0),
                          .factors = factors_.mutable_data_ptr<float>(),
                          .chunks = static_cast<const AdamChunk*>(chunks_.const_data_ptr()),
                          .chunk_count = parts_.back().last_chunk,
                          .chunk = chunk_,
                          .step = step_.const_data_ptr<float>(),
                          .divisor = divisor_.const_data_ptr<float>(),
                          .skip = skip_.const_data_ptr<float>(),
                          .beta1 = o.beta1,
                          .beta2 = o.beta2,
                          .eps = o.eps,
                          .decoupled = o.kind == OptimizerKind::adamw};
  if (passes_over_ && o.eps > 0 && gradients_.touched().defined())
    arguments.touched = gradients_.touched().const_data_ptr<std::uint8_t>();
  if (storage_.low_precision() && storage_.working().scalar_type() == at::kHalf)
    arguments.working_dtype = KernelDtype::f16;
  return arguments;
}

void Optimizer::find_touched() { gradients_.find_touched({first_, second_}); }

void Optimizer::begin_weights() {
  if (own_kernel_serves()) cuda_adam().factors(adam_arguments());
}

void Optimizer::update_part(std::size_t part) {
  const at::NoGradGuard no_grad;
  Part& own = parts_[part];
  if (!own_kernel_serves()) {
    for (Ranges& ranges : own.ranges) update(ranges);
    return;
  }
  AdamArguments arguments = adam_arguments();
  arguments.chunks += own.first_chunk;
  arguments.chunk_count = own.last_chunk - own.first_chunk;
  cuda_adam().update(arguments);
}

std::optional<OwedRows> Optimizer::owed_rows(std::size_t part) const {
  if (!own_kernel_serves()) return std::nullopt;
  const std::vector<Ranges>& ranges = parts_[part].ranges;
  LOCKSTEP_CHECK(ranges.size() == 1 && ranges[0].weights.size() == 1);
  return OwedRows{.adam = adam_arguments(), .range = parts_[part].first_range};
}

void Optimizer::update_weights() {
  begin_weights();
  for (std::size_t part = 0; part < parts_.size(); ++part) update_part(part);
}

void Optimizer::update(Ranges& ranges) {
  const auto& o = options_.optimizer;
  const double decay = ranges.group->rates.weight_decay;
  switch (o.kind) {
    case OptimizerKind::adamw:
      at::_fused_adamw_(ranges.weights, ranges.gradients, ranges.first, ranges.second, {},
                        ranges.steps, ranges.group->lr, o.beta1, o.beta2, decay, o.eps,
                        /*amsgrad=*/false, /*maximize=*/false, divisor_, skip_);
      break;
    case OptimizerKind::adam:
      at::_fused_adam_(ranges.weights, ranges.gradients, ranges.first, ranges.second, {},
                       ranges.steps, ranges.group->lr, o.beta1, o.beta2, decay, o.eps,
                       /*amsgrad=*/false, /*maximize=*/false, divisor_, skip_);
      break;
    case OptimizerKind::sgd:
      // ATen wants no buffers at all where there is no momentum.
      at::_fused_sgd_(ranges.weights, ranges.gradients,
                      o.momentum == 0 ? std::vector<at::Tensor>{} : ranges.first, decay, o.momentum,
                      ranges.group->lr, /*dampening=*/0.0, o.nesterov, /*maximize=*/false,
                      /*is_first_step=*/false, divisor_, skip_);
      break;
  }
  for (std::size_t i = 0; i < ranges.working.size(); ++i)
    ranges.working[i].copy_(ranges.weights[i]);
}

// Of a step that was dropped nothing is learned about the scale.
void Optimizer::find_next_loss_scale(const at::Tensor& dropped) {
  if (options_.precision != Precision::fp16) return;
  next_scale_.copy_(loss_scale_);
  next_growth_.copy_(growth_);
  at::Tensor scale = next_scale_[0], growth = next_growth_[0], skip = skip_[0];
  at::_amp_update_scale_(scale, growth, skip, scale_growth, scale_backoff, growth_interval);
  next_scale_.clamp_min_(1);  // below it gradients vanish, and nothing would let it grow again
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
  if (reads_sums_ != gradients_.leaves_sums()) cut(std::vector(part_of_));
  find_scalars(lr, dropped);
  find_next_loss_scale(dropped);
  if (average_) average_->prepare(next_step_, skip_);
}

void Optimizer::apply() {
  const at::NoGradGuard no_grad;
  apply_numbers();
  update_weights();
  storage_.gather_weights();
  if (average_) average_->update();
}

void Optimizer::apply_numbers() {
  const at::NoGradGuard no_grad;
  forget_prepared();
  step_.copy_(next_step_);
  if (options_.precision != Precision::fp16) return;
  loss_scale_.copy_(next_scale_);
  growth_.copy_(next_growth_);
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
