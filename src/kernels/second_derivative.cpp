// The backward pass by autograd, over ATen's operators.
#include "kernels/second_derivative.h"

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

namespace lockstep {

bool is_differentiated() { return at::GradMode::is_enabled(); }

std::vector<at::Tensor> differentiable_gradients(const Differentiable& function,
                                                 const std::vector<at::Tensor>& inputs,
                                                 const std::vector<at::Tensor>& gradients) {
  LOCKSTEP_CHECK(is_differentiated());
  // Aliases, so that derivatives stay partial where one input was computed from another.
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
