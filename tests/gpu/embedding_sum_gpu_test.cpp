// Rows of several tables, and three linear layers as one product, against ATen in f64.
#include "gpu/gpu_fixture.h"
#include "gpu/near.h"
#include "ops/embedding/embedding_sum.h"
#include "ops/gradient_buffer/gradient_registry.h"
#include "ops/linear/joined_linear.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>

#include <string>
#include <vector>

namespace lockstep {
namespace {

using EncoderKernelTest = GpuTest;

using testing::expect_near, testing::tolerance, testing::types;

void check_embedding_sum(at::Device device, at::ScalarType type, std::int64_t width) {
  const auto options = at::TensorOptions().device(device);
  const std::string what = std::string(c10::toString(type)) + " " + std::to_string(width);
  std::vector<Lookup> lookups;
  std::vector<at::Tensor> buffers;
  at::Tensor expected = at::full({}, 0.0, options.dtype(at::kDouble));
  for (const std::int64_t size : {5000, 2, 130}) {
    const at::Tensor table = at::randn({size, width}, options).to(type).requires_grad_();
    const at::Tensor rows = at::randint(size, {1031}, options.dtype(at::kLong));
    lookups.push_back({.rows = rows, .table = table});
    buffers.push_back(at::full({size, width}, 2.0, options));
    set_gradient_buffer(table, buffers.back());
    expected = expected + table.detach().to(at::kDouble).index_select(0, rows);
    const at::Tensor y = embedding_sum(lookups);
    expect_near(y.detach(), expected, 3 * tolerance(type), what);
    const at::Tensor up = at::randn({1031, width}, options).to(type);
    for (const at::Tensor& buffer : buffers) buffer.fill_(2);
    y.mul(up).sum().backward();
    for (std::size_t i = 0; i < lookups.size(); ++i) {
      const at::Tensor wide = up.to(at::kDouble);
      const at::Tensor sum = at::zeros_like(buffers[i], buffers[i].options().dtype(at::kDouble))
                                 .index_add(0, lookups[i].rows, wide);
      EXPECT_FALSE(lookups[i].table.grad().defined());
      expect_near(buffers[i] - 2, sum, 1e-4, what);
    }
  }
  for (const Lookup& lookup : lookups) forget_gradient_buffer(lookup.table);
}

TEST_F(EncoderKernelTest, EmbeddingSumAgreesWithATen) {
  for (const at::ScalarType type : types)
    for (const std::int64_t width : {8, 768, 7}) check_embedding_sum(gpu().device(), type, width);
}

TEST_F(EncoderKernelTest, DeterministicEmbeddingSumAgreesWithATen) {
  const Deterministic deterministic;
  for (const at::ScalarType type : types) check_embedding_sum(gpu().device(), type, 264);
}

TEST_F(EncoderKernelTest, JoinedLinearFillsGradientBuffersThatLieTogether) {
  const auto options = at::TensorOptions().device(gpu().device());
  for (const at::ScalarType type : types) {
    const at::Tensor x = at::randn({130, 64}, options).to(type).requires_grad_();
    const at::Tensor weights = (at::randn({3, 64, 64}, options) / 8).to(type);
    const at::Tensor biases = at::randn({3, 64}, options).to(type);
    const at::Tensor of_weights = at::full({3, 64, 64}, 2.0, options),
                     of_biases = at::full({3, 64}, 2.0, options);
    ThreeTensors w, b;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto place = static_cast<std::int64_t>(i);
      w[i] = weights[place].detach().requires_grad_();
      b[i] = biases[place].detach().requires_grad_();
      set_gradient_buffer(w[i], of_weights[place]);
      set_gradient_buffer(b[i], of_biases[place]);
    }
    const at::Tensor up = at::randn({130, 3, 64}, options).to(type);
    const at::Tensor y = joined_linear(x, w, b);
    y.mul(up).sum().backward();
    const at::Tensor exact = x.detach().to(at::kDouble), wide = up.to(at::kDouble);
    const std::string what = c10::toString(type);
    expect_near(
        y.detach().flatten(1),
        at::linear(exact, weights.to(at::kDouble).flatten(0, 1), biases.to(at::kDouble).flatten()),
        4 * tolerance(type), what);
    expect_near((of_weights - 2).flatten(0, 1), wide.flatten(1).t().mm(exact), 1e-2, what);
    expect_near((of_biases - 2).flatten(), wide.flatten(1).sum(0), 1e-2, what);
    for (std::size_t i = 0; i < 3; ++i) {
      forget_gradient_buffer(w[i]);
      forget_gradient_buffer(b[i]);
    }
  }
}

}  // namespace
}  // namespace lockstep
