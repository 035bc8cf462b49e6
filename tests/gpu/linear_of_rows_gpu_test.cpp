// A linear layer over few rows: the kernels give what its definition gives, and with more outputs
// or rows than they serve so does what takes their place.
#include "ops/linear_of_rows/linear_of_rows.h"

#include "gpu/gpu_fixture.h"
#include "gpu/near.h"
#include "ops/gradient_buffer/gradient_registry.h"

#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <torch/csrc/autograd/autograd.h>

#include <string>
#include <vector>

namespace lockstep {
namespace {

using LinearOfRowsOnGpu = GpuTest;
using testing::expect_near, testing::tolerance, testing::types;

struct HeadSizes {
  std::int64_t all, rows, outputs, width;
};

TEST_F(LinearOfRowsOnGpu, IsItsDefinitionWithAnotherReader) {
  const auto options = at::TensorOptions().device(gpu().device());
  for (const HeadSizes& s :
       {HeadSizes{70, 8, 2, 768}, HeadSizes{5, 256, 16, 8}, HeadSizes{300, 40, 13, 264},
        HeadSizes{9, 3, 17, 16}, HeadSizes{20, 300, 2, 16}, HeadSizes{20, 3, 2, 12}})
    for (const at::ScalarType type : types)
      for (const bool with_bias : {false, true}) {
        const at::Tensor rows = at::randint(s.all, {s.rows}, options.dtype(at::kLong));
        const at::Tensor factor = at::randn({s.all, s.width}, options).to(type);
        const at::Tensor up = at::randn({s.rows, s.outputs}, options).to(type);
        std::vector<at::Tensor> values{at::randn({s.all, s.width}, options).to(type),
                                       at::randn({s.outputs, s.width}, options).to(type)};
        if (with_bias) values.push_back(at::randn({s.outputs}, options).to(type));
        std::vector<at::Tensor> own, exact, buffers;
        for (const at::Tensor& value : values) {
          own.push_back(value.clone().requires_grad_());
          exact.push_back(value.to(at::kDouble).requires_grad_());
          buffers.push_back(at::ones(value.sizes(), options));
        }
        for (std::size_t i = 1; i < own.size(); ++i) set_gradient_buffer(own[i], buffers[i]);
        const auto [y, same] =
            linear_of_rows_beside(own[0], rows, own[1], with_bias ? own[2] : at::Tensor());
        torch::autograd::backward({y, same}, {up, factor});
        const at::Tensor expected = at::linear(exact[0].index_select(0, rows), exact[1],
                                               with_bias ? std::optional(exact[2]) : std::nullopt);
        torch::autograd::backward({expected, exact[0]},
                                  {up.to(at::kDouble), factor.to(at::kDouble)});
        const std::string what = std::to_string(s.rows) + " rows, " + std::to_string(s.outputs) +
                                 " outputs " + c10::toString(type);
        const double near = type == at::kFloat ? 1e-5 : tolerance(type);
        expect_near(y, expected, near, what);
        expect_near(own[0].grad(), exact[0].grad(), near, what + ": hidden");
        for (std::size_t i = 1; i < own.size(); ++i) {
          EXPECT_FALSE(own[i].grad().defined()) << what;
          expect_near(buffers[i] - 1, exact[i].grad(), type == at::kFloat ? 1e-4 : 2 * near, what);
          forget_gradient_buffer(own[i]);
        }
      }
}

}  // namespace
}  // namespace lockstep
