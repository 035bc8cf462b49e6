// Flat buffers and the views into them.
#include "engine/arena.h"

#include "base/error.h"
#include "base/text.h"
#include "engine/layout.h"
#include "engine/process_group.h"
#include "kernels/gradient_buffer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <utility>

namespace lockstep {
Arena::Arena(const std::vector<Parameter>& registered, at::Device device,
             at::ScalarType compute_dtype, ProcessGroup* sharing, std::int64_t bucket_bytes)
    : Arena(sort_parameters(registered), device, compute_dtype, sharing, bucket_bytes) {}

Arena::Arena(ModelParameters sorted, at::Device device, at::ScalarType compute_dtype,
             ProcessGroup* sharing, std::int64_t bucket_bytes)
    : frozen_(std::move(sorted.frozen), device, compute_dtype),
      aliases_(std::move(sorted.aliases)),
      sharing_(sharing != nullptr && sharing->size() > 1 ? sharing : nullptr) {
  for (UniqueParameter& one : sorted.trained) {
    sizes_.push_back(one.parameter.tensor.numel());
    strides_.push_back(dense_strides(one.parameter.tensor));
    parameters_.push_back(std::move(one.parameter));
    handles_.push_back(std::move(one.handles));
  }
  layout_ = lay_out(sizes_, arena_alignment * (sharing_ != nullptr ? sharing_->size() : 1));
  buckets_ = cut_buckets(layout_, sizes_, bucket_bytes);
  find_own_pieces();
  const at::NoGradGuard no_grad;
  const auto flat = [&](std::int64_t elements, at::ScalarType dtype) {
    return at::zeros({elements}, at::TensorOptions().dtype(dtype).device(device));
  };
  const bool low = compute_dtype != at::kFloat;
  master_ = flat(low ? own_elements() : layout_.elements, at::kFloat);
  gradients_ = flat(layout_.elements, at::kFloat);
  if (low) working_ = flat(layout_.elements, compute_dtype);
  for (std::size_t i = 0; i < parameters_.size(); ++i) set_weights(i, parameters_[i].tensor);
  point_at(low ? working_ : master_);
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    for (at::Tensor& handle : handles_[i]) {
      if (!handle.requires_grad()) continue;
      const at::Tensor gradient = view(gradients_, i);
      if (!low) handle.mutable_grad() = gradient;
      // Operations that write there themselves know rows only; for others autograd adds.
      if (gradient.is_contiguous()) set_gradient_buffer(handle, gradient);
    }
}

Arena::~Arena() {
  for (const auto& handles : handles_)
    for (const at::Tensor& handle : handles) forget_gradient_buffer(handle);
}

at::Tensor Arena::view(const at::Tensor& flat, std::size_t i) const {
  return shaped(flat.narrow(0, layout_.offsets[i], sizes_[i]), i);
}

at::Tensor Arena::shaped(const at::Tensor& row, std::size_t i) const {
  return view_as(row, parameters_[i].tensor.sizes(), strides_[i]);
}

void Arena::zero_gradients() {
  const at::NoGradGuard no_grad;
  gradients_.zero_();
}

void Arena::drop_gradients() {
  if (low_precision())
    for (auto& handles : handles_)
      for (at::Tensor& handle : handles) handle.mutable_grad().reset();
  zero_gradients();
}

void Arena::take_gradient(std::size_t i) {
  if (refuses_gradients_)
    throw Error(cat("the recipe's loss added a gradient to ", parameters_[i].name,
                    " by a backward pass of its own; Lockstep makes the one backward pass, over "
                    "the sum of the terms that the loss returns"),
                "return what is to be minimised as a term; for a gradient inside the loss, as a "
                "penalty needs it, use torch::autograd::grad, which adds up nothing; two models "
                "that are trained in turn are not supported");
  if (!low_precision()) return;
  const at::NoGradGuard no_grad;
  for (at::Tensor& handle : handles_[i]) {
    at::Tensor& gradient = handle.mutable_grad();
    if (!gradient.defined()) continue;
    view(gradients_, i).add_(gradient);
    gradient.reset();
  }
}

}  // namespace lockstep
