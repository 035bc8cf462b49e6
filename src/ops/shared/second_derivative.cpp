// Computes the backward pass with autograd over ATen's operators, so that it can be differentiated.
#include "ops/shared/second_derivative.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/graph_task.h>

#include <utility>

namespace lockstep {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The autograd graph of the fast function, from x to y.
struct InnerGraph : torch::CustomClassHolder {
  InnerGraph(OneToOne fast_in, OneToOne plain_in)
      : fast(std::move(fast_in)), plain(std::move(plain_in)) {}
  OneToOne fast, plain;
  at::Tensor x, y;
};

struct Twice : torch::autograd::Function<Twice> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const c10::intrusive_ptr<InnerGraph>& inner) {
    {
      const at::AutoGradMode with_gradients(true);
      inner->x = x.detach().requires_grad_();
      inner->y = inner->fast(inner->x);
    }
    context->save_for_backward({x});
    context->saved_data["inner"] = c10::IValue::make_capsule(inner);
    return inner->y.detach();
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    if (!gradients[0].defined()) return {{}, {}};
    const variable_list saved = context->get_saved_variables();
    const auto inner =
        c10::static_intrusive_pointer_cast<InnerGraph>(context->saved_data["inner"].toCapsule());
    if (is_differentiated()) {
      const auto plain = [&](const std::vector<at::Tensor>& in) {
        return std::vector<at::Tensor>{inner->plain(in[0])};
      };
      return {differentiable_gradients(plain, saved, gradients)[0], {}};
    }
    if (!inner->y.requires_grad()) return {at::zeros_like(saved[0]), {}};  // y does not depend on x
    const bool keep = torch::autograd::get_current_graph_task_keep_graph();
    const at::Tensor of_x =
        torch::autograd::grad({inner->y}, {inner->x}, gradients, keep, /*create_graph=*/false)[0];
    if (!keep) inner->x = inner->y = at::Tensor();  // before the rest of the pass needs memory
    return {of_x, {}};
  }
};

}  // namespace

at::Tensor differentiable_twice(OneToOne fast, OneToOne plain, const at::Tensor& x) {
  if (!at::GradMode::is_enabled() || !x.requires_grad()) return fast(x);
  return Twice::apply(x, c10::make_intrusive<InnerGraph>(std::move(fast), std::move(plain)));
}

bool is_differentiated() { return at::GradMode::is_enabled(); }

std::vector<at::Tensor> differentiable_gradients(const Differentiable& function,
                                                 const std::vector<at::Tensor>& inputs,
                                                 const std::vector<at::Tensor>& gradients) {
  LOCKSTEP_CHECK(is_differentiated());
  // Uses aliases of the inputs, so that derivatives stay partial even if one input was computed
  // from another.
  std::vector<at::Tensor> aliases = inputs, wanted, result(inputs.size());
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined() || !inputs[i].requires_grad()) continue;
    aliases[i] = inputs[i].view_as(inputs[i]);
    wanted.push_back(aliases[i]);
    places.push_back(i);
  }
  const std::vector<at::Tensor> outputs = function(aliases);
  LOCKSTEP_CHECK(outputs.size() == gradients.size());
  std::vector<at::Tensor> roots, given;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!gradients[i].defined() || !outputs[i].requires_grad()) continue;
    roots.push_back(outputs[i]);
    given.push_back(gradients[i]);
  }
  if (roots.empty() || wanted.empty()) return result;
  const std::vector<at::Tensor> found =
      torch::autograd::grad(roots, wanted, given, /*retain_graph=*/true, /*create_graph=*/true,
                            /*allow_unused=*/true);
  for (std::size_t i = 0; i < found.size(); ++i) result[places[i]] = found[i];
  return result;
}

void refuse_second_derivative(const std::string& operation, const std::string& hint) {
  if (is_differentiated()) throw Error(cat(operation, " has no second derivative"), hint);
}

}  // namespace lockstep
