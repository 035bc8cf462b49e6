// Computes scalars of a step with the registered kernels, or with ATen's operators.
#include "ops/step_scalars/step_scalars.h"

#include "core/base/check.h"
#include "ops/shared/own_kernels.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <iterator>

namespace lockstep {
namespace {

StepScalarKernels scalar_kernels;  // set once, before the first step

bool scalars_by_kernel(const at::Tensor& tensor) {
  return tensor.is_cuda() && scalar_kernels.factors != nullptr && tensor.is_contiguous();
}

void find_by_aten(const UpdateScalars& scalars, const at::Tensor& lr, const at::Tensor& dropped) {
  scalars.norm.copy_(scalars.raw_norm.div(scalars.loss_scale));
  const at::Tensor finite = at::isfinite(scalars.norm);
  scalars.skip.copy_(finite.logical_not());
  if (dropped.defined()) scalars.skip.masked_fill_(dropped.gt(0), 1.0);
  scalars.divisor.copy_(scalars.loss_scale);
  if (scalars.clip > 0) {
    // The gradient is divided by max(1, norm / clip). This is the inverse of the usual coefficient
    // min(1, clip / norm).
    const at::Tensor excess = at::clamp(scalars.norm.div(scalars.clip), 1.0);
    scalars.divisor.mul_(at::where(finite, excess, at::full_like(excess, 1.0)));
  }
  for (std::size_t i = 0; i < scalars.rates.size(); ++i)
    scalars.rates[i].copy_(lr.mul(scalars.factors[i]));
  scalars.next_step.copy_(scalars.step.add(scalars.skip, -1).add_(1));
}

}  // namespace

StepFactors step_factors(const at::Tensor& weights, const at::Tensor& loss_scale) {
  if (!scalars_by_kernel(weights)) {
    const at::Tensor factors =
        at::where(weights.gt(0), weights.reciprocal(), at::zeros_like(weights)).to(at::kFloat);
    return {.factors = factors, .scales = factors.mul(loss_scale)};
  }
  const auto f32 = weights.options().dtype(at::kFloat);
  StepFactors result{.factors = at::empty(weights.sizes(), f32),
                     .scales = at::empty(weights.sizes(), f32)};
  scalar_kernels.factors({.weights = weights.const_data_ptr<double>(),
                          .loss_scale = loss_scale.const_data_ptr<float>(),
                          .factors = result.factors.mutable_data_ptr<float>(),
                          .scales = result.scales.mutable_data_ptr<float>(),
                          .terms = weights.numel()});
  return result;
}

at::Tensor own_numbers(const at::Tensor& report, const at::Tensor& sums, const at::Tensor& dropped,
                       std::int64_t drop_slot) {
  LOCKSTEP_CHECK(sums.numel() <= drop_slot && drop_slot < report.numel());
  if (!scalars_by_kernel(report)) {
    at::Tensor numbers = report.clone();
    numbers.narrow(0, 0, sums.numel()).copy_(sums);
    numbers.narrow(0, drop_slot, 1).add_(dropped);
    return numbers;
  }
  at::Tensor numbers = at::empty_like(report);
  scalar_kernels.own({.report = report.const_data_ptr<double>(),
                      .sums = sums.const_data_ptr<double>(),
                      .dropped = dropped.const_data_ptr<double>(),
                      .numbers = numbers.mutable_data_ptr<double>(),
                      .size = report.numel(),
                      .sums_size = sums.numel(),
                      .drop_slot = drop_slot});
  return numbers;
}

void find_dropped(const at::Tensor& sum, std::int64_t terms, std::int64_t drop_slot,
                  const at::Tensor& dropped) {
  if (!scalars_by_kernel(sum)) {
    dropped.copy_(sum.narrow(0, drop_slot, 1));
    dropped.add_(at::isfinite(sum.narrow(0, 0, terms)).all().logical_not());
    return;
  }
  scalar_kernels.dropped({.sum = sum.const_data_ptr<double>(),
                          .dropped = dropped.mutable_data_ptr<double>(),
                          .terms = terms,
                          .drop_slot = drop_slot});
}

at::Tensor rate_table(const UpdateScalars& scalars) {
  if (scalars.rates.empty() || !scalars.rates.front().is_cuda()) return {};
  std::vector<GroupRate> table;
  for (std::size_t i = 0; i < scalars.rates.size(); ++i)
    table.push_back(
        {.lr = scalars.rates[i].mutable_data_ptr<float>(), .factor = scalars.factors[i]});
  return table_on(scalars.rates.front().device(), table);
}

void find_update_scalars(const UpdateScalars& scalars, const at::Tensor& lr,
                         const at::Tensor& dropped) {
  if (!scalars_by_kernel(scalars.norm) || lr.scalar_type() != at::kFloat || !lr.is_cuda())
    return find_by_aten(scalars, lr, dropped);
  scalar_kernels.update({.raw_norm = scalars.raw_norm.const_data_ptr<float>(),
                         .loss_scale = scalars.loss_scale.const_data_ptr<float>(),
                         .dropped = dropped.defined() ? dropped.const_data_ptr<double>() : nullptr,
                         .step = scalars.step.const_data_ptr<float>(),
                         .lr = lr.const_data_ptr<float>(),
                         .norm = scalars.norm.mutable_data_ptr<float>(),
                         .skip = scalars.skip.mutable_data_ptr<float>(),
                         .divisor = scalars.divisor.mutable_data_ptr<float>(),
                         .next_step = scalars.next_step.mutable_data_ptr<float>(),
                         .rates = scalars.table.defined() ? static_cast<const GroupRate*>(
                                                                scalars.table.const_data_ptr())
                                                          : nullptr,
                         .groups = std::ssize(scalars.rates),
                         .clip = static_cast<float>(scalars.clip)});
}

at::Tensor host_metrics(const at::Tensor& sum, const at::Tensor& norm, const at::Tensor& loss_scale,
                        const at::Tensor& dropped, const at::Tensor& stamps) {
  if (!scalars_by_kernel(sum))
    return at::cat({sum, at::cat({norm, loss_scale}).to(at::kDouble), dropped, stamps});
  at::Tensor whole = at::empty({sum.numel() + 5}, sum.options());
  scalar_kernels.whole({.sum = sum.const_data_ptr<double>(),
                        .norm = norm.const_data_ptr<float>(),
                        .loss_scale = loss_scale.const_data_ptr<float>(),
                        .dropped = dropped.const_data_ptr<double>(),
                        .stamps = stamps.const_data_ptr<double>(),
                        .whole = whole.mutable_data_ptr<double>(),
                        .size = sum.numel()});
  return whole;
}

void register_cuda_step_scalars(const StepScalarKernels& own) { scalar_kernels = own; }

}  // namespace lockstep
