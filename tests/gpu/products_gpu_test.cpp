// Sums of columns and convolutions of kernel size 1 by our products: what f64 makes of the same.
#include "gpu/gpu_fixture.h"
#include "gpu/near.h"
#include "ops/column_sums/column_sums.h"
#include "ops/gradient_buffer/gradient_registry.h"
#include "ops/matmul/matmul.h"
#include "ops/pointwise/pointwise.h"
#include "ops/zero_ranges/zero_ranges.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <torch/csrc/autograd/autograd.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace lockstep {
namespace {

using ProductsOnGpu = GpuTest;
using testing::expect_near, testing::tolerance, testing::types;

// One row and many, one block and several, shares of rows, columns that no vector fits.
TEST_F(ProductsOnGpu, SumsOfColumnsAreAddedToWhatWasThereAlwaysAlike) {
  const auto options = at::TensorOptions().device(gpu().device());
  for (const at::ScalarType type : types)
    for (const std::int64_t columns : {8, 24, 768, 2304, 7})
      for (const std::int64_t rows : {1, 31, 768, 2049, 20000}) {
        const at::Tensor matrix = at::randn({rows, columns}, options).to(type);
        const at::Tensor into = at::full({columns}, 2.0, options), again = into.clone();
        add_column_sums(into, matrix);
        add_column_sums(again, matrix);
        const std::string what = c10::str(type, " ", rows, " x ", columns);
        expect_near(into, matrix.to(at::kDouble).sum(0).add(2), 3e-6, what);
        EXPECT_TRUE(into.equal(again)) << what;
      }
}

// As a first gradient is written: nothing of what was there shows, not even what is no number.
TEST_F(ProductsOnGpu, AProductIsWrittenInF32OverAnything) {
  const auto options = at::TensorOptions().device(gpu().device());
  for (const at::ScalarType type : types) {
    const at::Tensor left = at::randn({64, 40}, options).to(type).t(),
                     right = at::randn({64, 24}, options).to(type);
    for (int time = 0; time < 3; ++time) {  // the second one tries algorithms
      const at::Tensor out = at::full({40, 24}, NAN, options);
      matmul_into(out, left, right);
      expect_near(out, left.to(at::kDouble).mm(right.to(at::kDouble)), tolerance(type),
                  c10::str(type));
    }
  }
}

TEST_F(ProductsOnGpu, RangesAreZeroedAndNothingElse) {
  const auto options = at::TensorOptions().device(gpu().device());
  const at::Tensor flat = at::full({100'000}, 3.0, options), expected = flat.clone();
  const std::vector<ZeroRange> ranges{{0, 4}, {64, 128}, {1000, 60'000}, {99'996, 100'000}};
  for (const ZeroRange& range : ranges)
    expected.narrow(0, range.begin, range.end - range.begin).zero_();
  ZeroRanges(ranges, gpu().device()).zero(flat);
  EXPECT_TRUE(flat.equal(expected));
  ZeroRanges({}, gpu().device()).zero(flat);
  EXPECT_TRUE(flat.equal(expected));
}

TEST_F(ProductsOnGpu, AProductIsAddedToAnotherMatrix) {
  const auto options = at::TensorOptions().device(gpu().device());
  for (const at::ScalarType type : types) {
    const at::Tensor left = at::randn({40, 24}, options).to(type),
                     right = at::randn({24, 16}, options).to(type),
                     addend = at::randn({40, 16}, options).to(type), kept = addend.clone();
    const at::Tensor out = at::full({40, 16}, 7.0, options).to(type);
    for (int time = 0; time < 3; ++time) {  // the second one tries algorithms
      matmul_plus(out, addend, left, right);
      expect_near(out, left.to(at::kDouble).mm(right.to(at::kDouble)).add(kept.to(at::kDouble)),
                  tolerance(type), c10::str(type));
    }
    EXPECT_TRUE(addend.equal(kept));
  }
}

// Dense matrices some way apart, of sizes that the library serves and that it may not.
at::Tensor batch_of(std::int64_t rows, std::int64_t columns, std::int64_t apart,
                    const at::TensorOptions& options) {
  const at::Tensor flat = at::randn({3 * apart}, options);
  return flat.as_strided({3, rows, columns}, {apart, columns, 1});
}

TEST_F(ProductsOnGpu, ABatchOfProductsIsAddedToAnother) {
  for (const at::ScalarType type : types) {
    if (type == at::kFloat) continue;
    const auto options = at::TensorOptions().device(gpu().device()).dtype(type);
    for (const auto& [m, n, k, apart] :
         {std::array<std::int64_t, 4>{64, 96, 32, 6144}, {96, 64, 160, 15360}, {6, 9, 4, 128}}) {
      const at::Tensor left = batch_of(m, k, apart, options),
                       right = batch_of(k, n, apart, options),
                       turned = batch_of(n, k, apart, options).transpose(1, 2),
                       addend = batch_of(m, n, apart, options), kept = addend.clone();
      const at::Tensor out = batch_of(m, n, apart, options);
      const auto wide = [](const at::Tensor& one) { return one.to(at::kDouble); };
      for (int time = 0; time < 3; ++time) {  // the second one tries algorithms
        const std::string what = c10::str(type, " ", m, " x ", n, " by ", k);
        matmul_batch(out, left, right);
        expect_near(out, wide(left).bmm(wide(right)), tolerance(type), what);
        matmul_batch(out, left, turned, 0.5, {.addend = addend, .beta = -3});
        expect_near(out, wide(left).bmm(wide(turned)).mul(0.5).sub(wide(kept).mul(3)),
                    tolerance(type), what);
      }
      EXPECT_TRUE(addend.equal(kept));
    }
  }
}

struct Made {
  at::Tensor out;
  std::vector<at::Tensor> gradients;  // by x, weight, bias
};

// A convolution, and beside it something else that reads x.
Made run_products(const std::vector<at::Tensor>& inputs, bool own, bool buffered) {
  std::vector<at::Tensor> leaves, buffers(3);
  for (const at::Tensor& input : inputs) leaves.push_back(input.detach().clone().requires_grad_());
  const at::Tensor bias = leaves.size() > 2 ? leaves[2] : at::Tensor();
  if (buffered)
    for (std::size_t i = 1; i < leaves.size(); ++i) {
      buffers[i] = at::full(leaves[i].sizes(), 2.0, leaves[i].options().dtype(at::kFloat));
      set_gradient_buffer(leaves[i], buffers[i]);
    }
  at::Tensor out, through = leaves[0];
  if (own)
    std::tie(out, through) = pointwise_convolution_beside(leaves[0], leaves[1], bias);
  else
    out = at::conv2d(leaves[0], leaves[1], bias.defined() ? std::optional(bias) : std::nullopt);
  out.mul(out.detach()).sum().add(through.mul(through.detach()).sum()).backward();
  Made made{.out = out.detach(), .gradients = {leaves[0].grad()}};
  for (std::size_t i = 1; i < leaves.size(); ++i) {
    if (buffered) {
      EXPECT_FALSE(leaves[i].grad().defined());
      made.gradients.push_back(buffers[i] - 2);
      forget_gradient_buffer(leaves[i]);
    } else {
      made.gradients.push_back(leaves[i].grad());
    }
  }
  return made;
}

TEST_F(ProductsOnGpu, APointwiseConvolutionIsATensOne) {
  const auto options = at::TensorOptions().device(gpu().device());
  for (const at::ScalarType type : types)
    for (const std::int64_t out : {16, 5})
      for (const bool bias : {true, false})
        for (const bool buffered : {true, false}) {
          std::vector<at::Tensor> inputs{
              at::randn({3, 8, 7, 5}, options).contiguous(at::MemoryFormat::ChannelsLast),
              at::randn({out, 8, 1, 1}, options)};
          if (bias) inputs.push_back(at::randn({out}, options));
          std::vector<at::Tensor> wide;
          for (at::Tensor& input : inputs) {
            input = input.to(type);
            wide.push_back(input.to(at::kDouble));
          }
          const std::string what =
              c10::str(type, " ", out, bias ? " bias" : "", buffered ? " buffered" : "");
          const Made own = run_products(inputs, true, buffered),
                     expected = run_products(wide, false, false);
          EXPECT_TRUE(own.out.is_contiguous(at::MemoryFormat::ChannelsLast));
          const double share = type == at::kFloat ? 2e-3 : tolerance(type);  // f32 may be TF32
          expect_near(own.out, expected.out, share, what);
          for (std::size_t i = 0; i < own.gradients.size(); ++i)
            expect_near(own.gradients[i], expected.gradients[i], 2 * share,
                        c10::str(what, ", gradient ", i));
        }
}

TEST_F(ProductsOnGpu, APointwiseConvolutionHasASecondDerivative) {
  const auto options = at::TensorOptions().device(gpu().device());
  const at::Tensor x =
      at::randn({2, 8, 3, 3}, options).contiguous(at::MemoryFormat::ChannelsLast).requires_grad_();
  const at::Tensor weight = at::randn({8, 8, 1, 1}, options).requires_grad_();
  const auto penalty = [&](bool own) {
    const at::Tensor y = own ? pointwise_convolution(x, weight) : at::conv2d(x, weight);
    const at::Tensor slope = torch::autograd::grad({y.sin().sum()}, {x}, {}, true, true).at(0);
    return torch::autograd::grad({slope.square().sum()}, {weight}).at(0);
  };
  expect_near(penalty(true), penalty(false), 1e-2, "second derivative");
}

}  // namespace
}  // namespace lockstep
