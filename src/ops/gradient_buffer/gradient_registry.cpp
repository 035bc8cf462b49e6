#include "ops/gradient_buffer/gradient_registry.h"

#include "core/base/check.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/variable.h>

#include <mutex>
#include <unordered_map>
#include <utility>

namespace lockstep {
namespace {

struct Registry {
  std::mutex mutex;
  std::unordered_map<const at::TensorImpl*, std::shared_ptr<GradientBuffer>> buffers;
};

// Never destroyed, because models may outlive static objects.
Registry& registry() {
  static Registry* const all = new Registry;
  return *all;
}

thread_local const InnerPass* inner_pass = nullptr;

// Whether the running backward pass returns the parameter's gradient to its caller.
bool is_captured(const at::Tensor& parameter) {
  const auto* const wanted = torch::autograd::get_current_graph_task_exec_info();
  if (wanted == nullptr || wanted->empty()) return false;  // autograd accumulates every gradient
  const auto end = torch::autograd::impl::try_get_grad_accumulator(parameter);
  const auto found = wanted->find(end.get());
  return found != wanted->end() && found->second.captures_ != nullptr;
}

}  // namespace

void set_gradient_buffer(const at::Tensor& parameter, std::shared_ptr<GradientBuffer> buffer) {
  LOCKSTEP_CHECK(buffer->f32().sizes() == parameter.sizes());
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.buffers[parameter.unsafeGetTensorImpl()] = std::move(buffer);
}

void set_gradient_buffer(const at::Tensor& parameter, const at::Tensor& f32) {
  set_gradient_buffer(parameter, std::make_shared<GradientBuffer>("a parameter", f32));
}

void forget_gradient_buffer(const at::Tensor& parameter) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.buffers.erase(parameter.unsafeGetTensorImpl());
}

std::shared_ptr<GradientBuffer> gradient_buffer_of(const at::Tensor& parameter, bool any_strides) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.buffers.find(parameter.unsafeGetTensorImpl());
  if (found == all.buffers.end()) return nullptr;
  return any_strides || found->second->f32().is_contiguous() ? found->second : nullptr;
}

std::shared_ptr<GradientBuffer> gradient_buffer_of_this_pass(const at::Tensor& parameter,
                                                             bool any_strides) {
  std::shared_ptr<GradientBuffer> buffer = gradient_buffer_of(parameter, any_strides);
  if (!buffer || !is_captured(parameter)) return buffer;
  const bool fills = inner_pass != nullptr && inner_pass->fills(parameter);
  return fills ? buffer : nullptr;
}

DeferredSparseUpdate* deferred_update_of(const at::Tensor& parameter) {
  const std::shared_ptr<GradientBuffer> buffer = gradient_buffer_of(parameter);
  return buffer ? buffer->deferred_update() : nullptr;
}

InnerPass::InnerPass(const std::vector<at::Tensor>& parameters)
    : outer_(torch::autograd::get_current_graph_task_id()), around_(inner_pass) {
  for (const at::Tensor& parameter : parameters)
    parameters_.insert(parameter.unsafeGetTensorImpl());
  inner_pass = this;
}

InnerPass::~InnerPass() { inner_pass = around_; }

// A thread that waits for the inner pass may meanwhile work on the outer one, so the current pass
// is checked.
bool InnerPass::fills(const at::Tensor& parameter) const {
  return torch::autograd::get_current_graph_task_id() != outer_ &&
         parameters_.count(parameter.unsafeGetTensorImpl()) > 0;
}

}  // namespace lockstep
