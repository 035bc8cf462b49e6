// Runs a function as a single autograd node. Its backward builds a separate graph and runs that.
#include "ops/shared/recompute.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/gradient_buffer/gradient_registry.h"
#include "ops/shared/second_derivative.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <set>
#include <utility>

namespace lockstep {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Node;
using torch::autograd::variable_list;

thread_local bool computes_again = false;

class ComputingAgain {
 public:
  ComputingAgain() : before_(std::exchange(computes_again, true)) {}
  ~ComputingAgain() { computes_again = before_; }

 private:
  bool before_;
};

struct HeldFunction : torch::CustomClassHolder {
  explicit HeldFunction(PureFunction kept) : function(std::move(kept)) {}
  PureFunction function;
};

// Throws Error for a leaf that was not listed, because its gradient would be lost without notice.
void check_leaves(const variable_list& outputs, const variable_list& known) {
  std::set<const at::TensorImpl*> leaves;
  for (const at::Tensor& tensor : known) leaves.insert(tensor.unsafeGetTensorImpl());
  std::set<Node*> seen;
  std::vector<Node*> todo;
  const auto visit = [&](const std::shared_ptr<Node>& node) {
    if (node && seen.insert(node.get()).second) todo.push_back(node.get());
  };
  for (const at::Tensor& output : outputs) visit(output.grad_fn());
  while (!todo.empty()) {
    Node* const node = todo.back();
    todo.pop_back();
    for (const auto& edge : node->next_edges()) visit(edge.function);
    const auto* leaf = dynamic_cast<torch::autograd::AccumulateGrad*>(node);
    if (leaf != nullptr && leaves.count(leaf->variable.unsafeGetTensorImpl()) == 0)
      throw Error(cat("a function that is computed again in backward uses a parameter of shape ",
                      leaf->variable.sizes(), " that is not among its parameters"),
                  "name every parameter that the block uses");
  }
}

struct Recompute : torch::autograd::Function<Recompute> {
  static variable_list forward(AutogradContext* context,
                               const c10::intrusive_ptr<HeldFunction>& held,
                               const at::TensorList& inputs, const at::TensorList& parameters) {
    variable_list kept = inputs.vec();
    kept.insert(kept.end(), parameters.begin(), parameters.end());
    context->save_for_backward(std::move(kept));
    context->saved_data["held"] = c10::IValue::make_capsule(held);
    context->saved_data["inputs"] = static_cast<std::int64_t>(inputs.size());
    context->set_materialize_grads(false);
    return held->function(inputs.vec());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    refuse_second_derivative("what backward computes again", "set memory.recompute=none");
    const variable_list saved = context->get_saved_variables();
    const auto count = static_cast<std::size_t>(context->saved_data["inputs"].toInt());
    const auto held =
        c10::static_intrusive_pointer_cast<HeldFunction>(context->saved_data["held"].toCapsule());
    // Inputs are detached, so that a separate graph begins here. Parameters are used themselves, so
    // that operations find their gradient buffers.
    variable_list leaves = saved;
    for (std::size_t i = 0; i < count; ++i)
      leaves[i] = saved[i].detach().set_requires_grad(saved[i].requires_grad());
    variable_list buffered;
    std::vector<bool> needed;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      needed.push_back(leaves[i].requires_grad() && context->needs_input_grad(i));
      if (i >= count && needed[i] && gradient_buffer_of_this_pass(leaves[i]) != nullptr)
        buffered.push_back(leaves[i]);
    }
    variable_list outputs;
    {
      const at::AutoGradMode with_gradients(true);
      const ComputingAgain again;
      outputs =
          held->function({leaves.begin(), leaves.begin() + static_cast<std::ptrdiff_t>(count)});
    }
    LOCKSTEP_CHECK(outputs.size() == gradients.size());
    check_leaves(outputs, leaves);
    const InnerPass inner(buffered);
    return gradients_of(outputs, gradients, leaves, needed);
  }

 private:
  // Returns an undefined gradient for the function itself, then one gradient per leaf.
  static variable_list gradients_of(const variable_list& outputs, const variable_list& gradients,
                                    const variable_list& leaves, const std::vector<bool>& needed) {
    variable_list roots, given, wanted, result(1 + leaves.size());
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!gradients[i].defined() || !outputs[i].requires_grad()) continue;
      roots.push_back(outputs[i]);
      given.push_back(gradients[i]);
    }
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (!needed[i]) continue;
      wanted.push_back(leaves[i]);
      places.push_back(1 + i);
    }
    if (roots.empty() || wanted.empty()) return result;
    const variable_list found =
        torch::autograd::grad(roots, wanted, given, /*retain_graph=*/false,
                              /*create_graph=*/false, /*allow_unused=*/true);
    for (std::size_t i = 0; i < found.size(); ++i) result[places[i]] = found[i];
    return result;
  }
};

}  // namespace

bool is_computed_again() { return computes_again; }

std::vector<at::Tensor> recomputed(const PureFunction& function,
                                   const std::vector<at::Tensor>& inputs,
                                   const std::vector<at::Tensor>& parameters) {
  if (!at::GradMode::is_enabled()) return function(inputs);
  return Recompute::apply(c10::make_intrusive<HeldFunction>(function), at::TensorList(inputs),
                          at::TensorList(parameters));
}

}  // namespace lockstep
