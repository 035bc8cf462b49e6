// Flat buffers and the views into them.
#include "engine/arena.h"

#include "base/error.h"
#include "base/text.h"
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

Arena::Arena(std::vector<Parameter> parameters, at::Device device, at::ScalarType compute_dtype)
    : parameters_(std::move(parameters)) {
  check_parameters(parameters_);
  for (const Parameter& parameter : parameters_) sizes_.push_back(parameter.tensor.numel());
  layout_ = lay_out(sizes_);
  const at::NoGradGuard no_grad;
  const auto flat = [&](at::ScalarType dtype) {
    return at::zeros({layout_.elements}, at::TensorOptions().dtype(dtype).device(device));
  };
  master_ = flat(at::kFloat);
  gradients_ = flat(at::kFloat);
  if (compute_dtype != at::kFloat) working_ = flat(compute_dtype);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    view(master_, i).copy_(parameters_[i].tensor);
    parameters_[i].tensor.set_data(view(low_precision() ? working_ : master_, i));
    if (!low_precision()) parameters_[i].tensor.mutable_grad() = view(gradients_, i);
    set_gradient_buffer(parameters_[i].tensor, view(gradients_, i));
  }
  refresh_working();
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

void Arena::take_gradient(std::size_t i) {
  if (!low_precision()) return;
  const at::NoGradGuard no_grad;
  at::Tensor& gradient = parameters_[i].tensor.mutable_grad();
  if (!gradient.defined()) return;
  view(gradients_, i).add_(gradient);
  gradient.reset();
}

void Arena::show(const at::Tensor& flat) {
  const at::NoGradGuard no_grad;
  if (low_precision()) {
    working_.copy_(flat);
    return;
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    parameters_[i].tensor.set_data(view(flat, i));
}

void Arena::show_weights() { show(master_); }

void Arena::refresh_working() {
  if (!low_precision()) return;
  const at::NoGradGuard no_grad;
  working_.copy_(master_);
}

}  // namespace lockstep
