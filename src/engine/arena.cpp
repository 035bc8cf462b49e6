// Flat buffers and the views into them.
#include "engine/arena.h"

#include "base/error.h"
#include "base/text.h"
#include "engine/process_group.h"
#include "kernels/gradient_buffer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <set>
#include <utility>

namespace lockstep {
namespace {

void check_parameters(const std::vector<Parameter>& parameters) {
  if (parameters.empty()) throw Error("the model has no parameters");
  std::set<std::string> names;
  for (const Parameter& parameter : parameters) {
    if (!names.insert(parameter.name).second)
      throw Error(cat("the model has two parameters named ", parameter.name));
    const at::Tensor& tensor = parameter.tensor;
    if (!tensor.defined() || !tensor.is_leaf() || !tensor.requires_grad())
      throw Error(cat("parameter ", parameter.name, " must be a leaf tensor that requires grad"));
    if (tensor.scalar_type() != at::kFloat)
      throw Error(cat("parameter ", parameter.name, " must be float32 when built, but is ",
                      c10::toString(tensor.scalar_type())));
  }
}

}  // namespace

Arena::Arena(std::vector<Parameter> parameters, at::Device device, at::ScalarType compute_dtype,
             ProcessGroup* sharing, std::int64_t bucket_bytes)
    : parameters_(std::move(parameters)),
      sharing_(sharing != nullptr && sharing->size() > 1 ? sharing : nullptr) {
  check_parameters(parameters_);
  for (const Parameter& parameter : parameters_) sizes_.push_back(parameter.tensor.numel());
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
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    set_weights(i, parameters_[i].tensor);
    parameters_[i].tensor.set_data(view(low ? working_ : master_, i));
    if (!low) parameters_[i].tensor.mutable_grad() = view(gradients_, i);
    set_gradient_buffer(parameters_[i].tensor, view(gradients_, i));
  }
}

Arena::~Arena() {
  for (const Parameter& parameter : parameters_) forget_gradient_buffer(parameter.tensor);
}

at::Tensor Arena::view(const at::Tensor& flat, std::size_t i) const {
  return flat.narrow(0, layout_.offsets[i], sizes_[i]).view(parameters_[i].tensor.sizes());
}

void Arena::zero_gradients() {
  const at::NoGradGuard no_grad;
  gradients_.zero_();
}

void Arena::drop_gradients() {
  if (low_precision())
    for (const Parameter& parameter : parameters_) {
      at::Tensor handle = parameter.tensor;
      handle.mutable_grad().reset();
    }
  zero_gradients();
}

void Arena::take_gradient(std::size_t i) {
  if (!low_precision()) return;
  const at::NoGradGuard no_grad;
  at::Tensor& gradient = parameters_[i].tensor.mutable_grad();
  if (!gradient.defined()) return;
  view(gradients_, i).add_(gradient);
  gradient.reset();
}

}  // namespace lockstep
