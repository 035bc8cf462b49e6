// Matrix products through cuBLASLt and attention through cuDNN, against ATen in f64.
#include "gpu/gpu_fixture.h"
#include "gpu/near.h"
#include "ops/attention/attention.h"
#include "ops/matmul/matmul.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <cmath>
#include <string>
#include <vector>

namespace lockstep {
namespace {

using LibraryTest = GpuTest;

using testing::expect_near, testing::tolerance, testing::types;

struct Sizes {
  std::int64_t m, n, k;
};

TEST_F(LibraryTest, ProductsAgreeWithATenWhateverWasTransposedAndChosen) {
  const auto options = at::TensorOptions().device(gpu().device());
  for (const at::ScalarType type : types)
    for (const auto [m, n, k] : std::vector<Sizes>{
             {64, 48, 40}, {1, 8, 8}, {33, 7, 5}, {1000, 2304, 768}, {768, 3072, 4096}})
      for (const bool left_turned : {false, true})
        for (const bool right_turned : {false, true})
          for (const bool tune : {true, false}) {
            set_matmul_tuning(tune);
            const at::Tensor left = at::randn({m, k}, options).to(type);
            const at::Tensor right = at::randn({k, n}, options).to(type);
            const at::Tensor bias = at::randn({n}, options).to(type);
            const at::Tensor l = left_turned ? left.t().contiguous().t() : left;
            const at::Tensor r = right_turned ? right.t().contiguous().t() : right;
            const at::Tensor exact = left.to(at::kDouble).mm(right.to(at::kDouble));
            const std::string what = std::string(c10::toString(type)) + " " + std::to_string(m) +
                                     " " + std::to_string(n) + " " + std::to_string(k);
            at::Tensor out = at::full({m, n}, std::nan(""), options).to(type);
            matmul_into(out, l, r);
            expect_near(out, exact, tolerance(type), what);
            out.fill_(std::nan(""));
            matmul_into(out, l, r, bias);
            expect_near(out, exact + bias.to(at::kDouble), tolerance(type), what + " bias");
            at::Tensor sum = at::full({m, n}, 2.0, options);
            matmul_into(sum, l, r, {}, true);
            matmul_into(sum, l, r, {}, true);
            expect_near(sum, 2 * exact + 2, 1e-5, what + " accumulated");
          }
  set_matmul_tuning(true);
}

TEST_F(LibraryTest, ProductsOfUnalignedPartsAgreeToo) {
  const auto options = at::TensorOptions().device(gpu().device()).dtype(at::kBFloat16);
  const at::Tensor all = at::randn({64 * 64 + 1}, options);
  const at::Tensor left = all.narrow(0, 1, 64 * 64).view({64, 64}),
                   right = at::randn({64, 64}, options);
  at::Tensor out = at::empty({64, 64}, options);
  matmul_into(out, left, right);
  expect_near(out, left.to(at::kDouble).mm(right.to(at::kDouble)), tolerance(at::kBFloat16), "");
}

TEST_F(LibraryTest, PackedAttentionAgreesWithATen) {
  const auto options = at::TensorOptions().device(gpu().device());
  for (const at::ScalarType type : types)
    for (const auto& sizes : std::vector<std::vector<std::int64_t>>{{2, 128, 3, 3, 64},
                                                                    {1, 1000, 3, 2, 64},
                                                                    {3, 37, 3, 2, 32},
                                                                    {2, 1, 3, 1, 8},
                                                                    {1, 300, 3, 1, 128},
                                                                    {1, 33, 3, 2, 20}}) {
      const at::Tensor qkv = at::randn(sizes, options).to(type).requires_grad_();
      const at::Tensor wide = qkv.detach().to(at::kDouble).requires_grad_();
      const at::Tensor out = packed_causal_attention(qkv);
      const auto parts = wide.unbind(2);
      const at::Tensor exact =
          at::scaled_dot_product_attention(parts[0].transpose(1, 2), parts[1].transpose(1, 2),
                                           parts[2].transpose(1, 2), {}, 0.0, true)
              .transpose(1, 2);
      const at::Tensor up = at::randn(out.sizes(), options).to(type);
      out.mul(up).sum().backward();
      exact.mul(up.to(at::kDouble)).sum().backward();
      const std::string what = std::string(c10::toString(type)) + " of length " +
                               std::to_string(sizes[1]) + " and width " + std::to_string(sizes[4]);
      expect_near(out.detach(), exact.detach(), tolerance(type), what);
      expect_near(qkv.grad(), wide.grad(), 2 * tolerance(type), what + ", gradient");
    }
}

TEST_F(LibraryTest, DeterministicAttentionRepeatsToTheBit) {
  const auto options = at::TensorOptions().device(gpu().device()).dtype(at::kBFloat16);
  const Deterministic deterministic;
  const at::Tensor qkv = at::randn({4, 1024, 3, 4, 64}, options);
  const at::Tensor up = at::randn({4, 1024, 4, 64}, options);
  const auto gradient = [&] {
    const at::Tensor own = qkv.clone().requires_grad_();
    packed_causal_attention(own).mul(up).sum().backward();
    return own.grad();
  };
  const at::Tensor first = gradient();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(gradient().equal(first));
}

}  // namespace
}  // namespace lockstep
