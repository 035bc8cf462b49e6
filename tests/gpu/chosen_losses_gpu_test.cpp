// Losses by question: the kernels give what their definition gives.
#include "fakes/chosen_cases.h"
#include "gpu/gpu_fixture.h"
#include "gpu/near.h"

#include <ATen/ops/arange.h>

#include <string>

namespace lockstep {
namespace {

using ChosenLossesOnGpu = GpuTest;
using testing::expect_near, testing::FusedCase, testing::tolerance, testing::types,
    testing::Tensors;

Tensors run_losses(const testing::Function& function, const at::Tensor& input) {
  const at::Tensor leaf = input.clone().requires_grad_();
  const at::Tensor sums = function({leaf});
  (sums * at::arange(1, sums.numel() + 1, sums.options())).sum().backward();
  return {sums.detach(), leaf.grad()};
}

TEST_F(ChosenLossesOnGpu, AreTheirDefinition) {
  const auto options = at::TensorOptions().device(gpu().device());
  std::vector<FusedCase> cases = testing::chosen_cases(options);
  cases.push_back(testing::chosen_case(1500, 4, 2, 2, options));  // several blocks
  cases.push_back(testing::chosen_case(2500, 2, 1, 0, options));
  for (const FusedCase& test : cases)
    for (const at::ScalarType type : types) {
      const at::Tensor input = test.inputs[0].to(type);
      const Tensors own = run_losses(test.own, input),
                    exact = run_losses(test.plain, input.to(at::kDouble));
      for (std::size_t i = 0; i < own.size(); ++i)
        expect_near(own[i], exact[i], i == 0 ? 1e-4 : tolerance(type),
                    test.name + " #" + std::to_string(i) + " " + c10::toString(type));
    }
}

}  // namespace
}  // namespace lockstep
