// Batch norm with the statistics of all ranks, as torch's SyncBatchNorm. Ranks exchange counts,
// means and variances in forward, and two sums in backward.
#include "ops/batch_norm/batch_norm.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/batch_norm/batch_norm_paths.h"
#include "ops/shared/recompute.h"
#include "ops/shared/second_derivative.h"
#include "ops/spatial/spatial.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>
#include <vector>

namespace lockstep {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::vector<std::int64_t> all_but_channels(const at::Tensor& x) {
  std::vector<std::int64_t> dims{0};
  for (std::int64_t dim = 2; dim < x.dim(); ++dim) dims.push_back(dim);
  return dims;
}

// Views [C] so that it can be broadcast over x.
at::Tensor beside(const at::Tensor& of_channels, const at::Tensor& x) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.dim()), 1);
  sizes[1] = x.size(1);
  return of_channels.view(sizes);
}

// Statistics of all ranks. mean, variance: f32 [C]. count: f32 [1].
struct Statistics {
  at::Tensor mean, variance, count;
};

Statistics statistics_of_ranks(const at::Tensor& x, const StatisticsOfRanks& of_ranks) {
  const std::int64_t channels = x.size(1);
  const std::vector<std::int64_t> dims = all_but_channels(x);
  const at::Tensor own_mean = x.mean(dims);
  const at::Tensor own_variance = x.sub(beside(own_mean, x)).square_().mean(dims);
  const std::int64_t rows = x.numel() / channels;
  const at::Tensor own_count = at::full({1}, static_cast<double>(rows), own_mean.options());
  // Every rank fills its own row, and a sum over the ranks distributes all rows. A rank without
  // rows has no mean, and its weight is 0.
  const at::Tensor all = at::zeros({of_ranks.ranks, 2 * channels + 1}, own_mean.options());
  if (rows > 0) all[of_ranks.rank].copy_(at::cat({own_mean, own_variance, own_count}));
  of_ranks.sum(all);
  const at::Tensor means = all.narrow(1, 0, channels),
                   variances = all.narrow(1, channels, channels),
                   counts = all.narrow(1, 2 * channels, 1);
  const at::Tensor count = counts.sum(0);
  const at::Tensor mean = means.mul(counts).sum(0).div(count);
  const at::Tensor variance = variances.add(means.sub(mean).square()).mul(counts).sum(0).div(count);
  return {mean, variance, count};
}

void follow(const BatchNormState& state, const Statistics& now) {
  if (is_computed_again()) return;
  const at::Tensor unbiased = now.variance.mul(now.count.div(now.count.sub(1)));
  state.running_mean.lerp_(now.mean, state.momentum);
  state.running_var.lerp_(unbiased, state.momentum);
}

struct HeldRanks : torch::CustomClassHolder {
  explicit HeldRanks(StatisticsOfRanks kept) : of_ranks(std::move(kept)) {}
  StatisticsOfRanks of_ranks;
};

struct BatchNormOfRanks : torch::autograd::Function<BatchNormOfRanks> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& bias, const at::Tensor& mean,
                            const at::Tensor& inverse, const at::Tensor& count,
                            const c10::intrusive_ptr<HeldRanks>& held) {
    context->save_for_backward({x, weight, mean, inverse, count});
    context->saved_data["held"] = c10::IValue::make_capsule(held);
    const at::Tensor scale = inverse.mul(weight);
    const at::Tensor shift = bias.sub(mean.mul(scale));
    return x.to(at::kFloat).mul(beside(scale, x)).add_(beside(shift, x)).to(x.scalar_type());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    refuse_second_derivative("batch norm whose statistics span several ranks",
                             "set norm.statistics=rank");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &mean = saved[2], &inverse = saved[3],
                     &count = saved[4];
    const auto held =
        c10::static_intrusive_pointer_cast<HeldRanks>(context->saved_data["held"].toCapsule());
    const std::int64_t channels = x.size(1);
    const std::vector<std::int64_t> dims = all_but_channels(x);
    const at::Tensor of_out = gradients[0].to(at::kFloat);
    const at::Tensor normed = x.to(at::kFloat).sub(beside(mean, x)).mul_(beside(inverse, x));
    const at::Tensor of_bias = of_out.sum(dims), of_weight = of_out.mul(normed).sum(dims);
    const at::Tensor sums = at::cat({of_bias, of_weight});
    held->of_ranks.sum(sums);
    const at::Tensor means = sums.div(count);
    const at::Tensor of_x = of_out.sub(beside(means.narrow(0, 0, channels), x))
                                .sub_(normed.mul(beside(means.narrow(0, channels, channels), x)))
                                .mul_(beside(inverse.mul(weight), x));
    return {of_x.to(x.scalar_type()), of_weight, of_bias, {}, {}, {}, {}};
  }
};

at::Tensor in_f32(const at::Tensor& tensor, double otherwise, const at::Tensor& like) {
  return tensor.defined() ? tensor.to(at::kFloat) : at::full_like(like, otherwise);
}

at::Tensor batch_norm_of_ranks(const at::Tensor& x, const BatchNormState& state,
                               const StatisticsOfRanks& of_ranks) {
  Statistics now;
  at::Tensor inverse;
  {
    const at::NoGradGuard no_grad;
    now = statistics_of_ranks(x.to(at::kFloat), of_ranks);
    inverse = now.variance.add(state.eps).rsqrt_();
    follow(state, now);
  }
  return BatchNormOfRanks::apply(x, in_f32(state.weight, 1, now.mean),
                                 in_f32(state.bias, 0, now.mean), now.mean, inverse, now.count,
                                 c10::make_intrusive<HeldRanks>(of_ranks));
}

std::optional<at::Tensor> f32_if_defined(const at::Tensor& tensor) {
  if (!tensor.defined()) return std::nullopt;
  return tensor.to(at::kFloat);
}

// Changes `normed` in place, so nothing else may refer to it.
at::Tensor with(at::Tensor normed, const AfterNorm& after) {
  if (after.skip.defined()) normed.add_(after.skip);
  return after.relu ? normed.relu_() : normed;
}

}  // namespace

at::Tensor batch_norm(const at::Tensor& x, const BatchNormState& state, bool training,
                      const StatisticsOfRanks* of_ranks, const AfterNorm& after,
                      const KnownMoments& known) {
  if (after.skip_norm && !after.skip.defined())
    throw Error("batch norm was given a norm for its skip, but no skip", "set AfterNorm::skip too");
  const bool over_ranks = training && of_ranks != nullptr && of_ranks->ranks > 1;
  if (after.pool && (over_ranks || !pooled_batch_norm_serves(x, state, after))) {
    AfterNorm before = after;
    before.pool.reset();
    return max_pool(batch_norm(x, state, training, of_ranks, before, known), after.pool->window,
                    after.pool->stride, after.pool->padding);
  }
  if (after.skip_norm && (over_ranks || !batch_norm_kernels_serve(x, state, after)))
    return batch_norm(x, state, training, of_ranks,
                      {.skip = batch_norm(after.skip, *after.skip_norm, training, of_ranks, {},
                                          {.x = known.skip}),
                       .relu = after.relu},
                      {.x = known.x});
  if (over_ranks) return with(batch_norm_of_ranks(x, state, *of_ranks), after);
  if (training && x.numel() == x.size(1))
    throw Error(cat("batch norm got one value per channel, of shape ", x.sizes(),
                    ", which leaves nothing once its mean is taken off"),
                "set batch.micro above 1, or norm.statistics=sync or frozen");
  if (after.pool) return pooled_batch_norm(x, state, training, *after.pool, known.x);
  if (batch_norm_kernels_serve(x, state, after))
    return batch_norm_by_kernels(x, state, training, after, known);
  // Running statistics must be updated only once, so a recomputation updates copies.
  const bool again = training && is_computed_again();
  const at::Tensor mean = again ? state.running_mean.clone() : state.running_mean;
  const at::Tensor variance = again ? state.running_var.clone() : state.running_var;
  return with(at::batch_norm(x, f32_if_defined(state.weight), f32_if_defined(state.bias), mean,
                             variance, training, state.momentum, state.eps, /*cudnn_enabled=*/true),
              after);
}

}  // namespace lockstep
