// The gradients of a step until they are summed over the ranks.
#include "training/gradients/gradient_buffers.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/copy_all/copy_all.h"
#include "ops/gradient_buffer/gradient_registry.h"
#include "planning/batch/buckets.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <utility>

namespace lockstep {
namespace {

// The most bytes of gradients that may wait for their copy to the buffers. More would take memory
// that the step could use.
constexpr std::int64_t most_taken_bytes = 32 << 20;

}  // namespace

GradientBuffers::GradientBuffers(ParameterStorage& storage)
    : storage_(storage), reduce_(storage, flat_, buffers_), dirty_(storage, buffers_) {
  const at::NoGradGuard no_grad;
  flat_ = at::zeros({storage.elements()}, storage.master().options());
  for (std::size_t i = 0; i < storage.parameters().size(); ++i) {
    const at::Tensor gradient = storage.view(flat_, i);
    buffers_.push_back(std::make_shared<GradientBuffer>(storage.parameters()[i].name, gradient,
                                                        !storage.low_precision()));
    for (const at::Tensor& handle : storage.places()[i].handles) {
      if (!handle.requires_grad()) continue;
      if (!storage.low_precision()) handle.mutable_grad() = gradient;
      set_gradient_buffer(handle, buffers_[i]);
    }
  }
  UpdatePlan plan = plan_before_warm_up(buffers_.size());
  auto zeros = std::make_shared<ZeroFill>(storage, plan);
  plan_ = std::make_shared<StepPlan>(
      StepPlan{.update = std::move(plan), .zeros = std::move(zeros), .weights = nullptr});
}

GradientBuffers::~GradientBuffers() {
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    for (const at::Tensor& handle : storage_.places()[i].handles) forget_gradient_buffer(handle);
}

void GradientBuffers::zero() {
  const at::NoGradGuard no_grad;
  forget_taken();
  flat_.zero_();
  for (const auto& buffer : buffers_) buffer->restart();
}

void GradientBuffers::begin_step() {
  const at::NoGradGuard no_grad;
  forget_taken();
  if (!plan().deferred) plan_->zeros->fill_all(flat_);
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    buffers_[i]->begin_step(plan().parameters[i].first);
}

void GradientBuffers::zero_group(std::size_t group) {
  const at::NoGradGuard no_grad;
  plan_->zeros->fill(group, flat_, dirty_.flags());
}

std::vector<ParameterObservation> GradientBuffers::observed() const {
  std::vector<ParameterObservation> all;
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    all.push_back({.gradient = buffers_[i]->observed(),
                   .elements = storage_.places()[i].elements,
                   .tensors = std::ssize(storage_.places()[i].handles)});
  return all;
}

std::vector<bool> GradientBuffers::large_sparse() const {
  std::vector<bool> large;
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    large.push_back(buffers_[i]->is_sparse() && fills_a_bucket(storage_.places()[i].elements));
  return large;
}

void GradientBuffers::find_dirty(std::vector<at::Tensor> flats) {
  flats.push_back(flat_);
  if (sums().defined()) flats.push_back(sums());
  dirty_.find(flats);
}

void GradientBuffers::zero_fill_missing() {
  const at::NoGradGuard no_grad;
  place();
  for (const auto& buffer : buffers_) buffer->fill_if_empty();
}

void GradientBuffers::drop() {
  if (storage_.low_precision())
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      for (const at::Tensor& handle : storage_.places()[i].handles) handle.mutable_grad().reset();
  zero();
}

void GradientBuffers::set_reduced() {
  for (const auto& buffer : buffers_) buffer->set_reduced();
}

void GradientBuffers::abandon() {
  forget_taken();
  for (const auto& buffer : buffers_) buffer->abandon();
}

void GradientBuffers::take(std::size_t i) {
  if (refuses_gradients_)
    throw Error(cat("the recipe's loss added a gradient to ", storage_.parameters()[i].name,
                    " by a backward pass of its own; Lockstep makes the one backward pass, over "
                    "the sum of the terms that the loss returns"),
                "return what is to be minimised as a term; for a gradient inside the loss, as a "
                "penalty needs it, use torch::autograd::grad, which adds up nothing; two models "
                "that are trained in turn are not supported");
  GradientBuffer& buffer = *buffers_[i];
  if (!storage_.low_precision()) return buffer.added_by_autograd();
  const at::NoGradGuard no_grad;
  buffer.wait_for_reader();
  for (const at::Tensor& handle : storage_.places()[i].handles) {
    at::Tensor& gradient = handle.mutable_grad();
    if (!gradient.defined()) continue;
    if (!buffer.is_stale()) place();  // the previous gradient may still wait for its copy
    const GradientTarget target = buffer.open_for_autograd(gradient);
    if (target.overwrite) {
      taken_bytes_ += static_cast<std::int64_t>(gradient.nbytes());
      taken_.push_back(i);
    } else {
      target.into.add_(gradient);
    }
    gradient.reset();
  }
  buffer.fill_if_empty();
  if (taken_bytes_ > most_taken_bytes) place_taken();
}

void GradientBuffers::place() {
  if (side_ != nullptr) side_->wait_for_all();
  place_taken();
  for (const auto& buffer : buffers_) buffer->join();
}

void GradientBuffers::run_behind(const std::function<void()>& work) {
  place_taken();
  if (side_ != nullptr)
    side_->run({}, work);
  else
    work();
}

void GradientBuffers::make_beside(SideWork* side) {
  side_ = side;
  for (const auto& buffer : buffers_) buffer->set_side_work(side);
}

void GradientBuffers::place_taken() {
  if (taken_.empty()) return;
  const at::NoGradGuard no_grad;
  Copies copies;
  for (const std::size_t i : taken_)
    if (auto copy = buffers_[i]->queued_copy(); copy.first.defined())
      copies.push_back(std::move(copy));
  copy_all(copies);
  for (const std::size_t i : taken_) buffers_[i]->copied();
  forget_taken();
}

void GradientBuffers::forget_taken() {
  taken_.clear();
  taken_bytes_ = 0;
}

}  // namespace lockstep
