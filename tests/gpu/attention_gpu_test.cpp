// Attention both ways, by lengths and over ragged rows on the GPU, against its definition in f64.
#include "fakes/fused_cases.h"
#include "fakes/plain_attention.h"
#include "gpu/gpu_fixture.h"
#include "gpu/near.h"
#include "ops/attention/attention.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace lockstep {
namespace {

using AttentionOnGpu = GpuTest;
using Lengths = std::vector<std::int64_t>;
using testing::attention_by_definition, testing::expect_near, testing::tolerance, testing::types;

struct Rows {
  Lengths lengths;
  std::int64_t length, heads, width;
};

const std::vector<Rows>& rows_to_try() {
  static const std::vector<Rows> all{{{128, 128}, 128, 3, 64}, {{100, 0, 128, 1, 37}, 128, 2, 64},
                                     {{37, 5, 0}, 37, 2, 32},  {{300}, 300, 1, 128},
                                     {{0, 0}, 16, 1, 8},       {{33, 20}, 33, 2, 20}};
  return all;
}

std::string name_of_rows(const Rows& rows, at::ScalarType type, Sees sees) {
  return std::string(c10::toString(type)) + " of length " + std::to_string(rows.length) +
         " and width " + std::to_string(rows.width) + (sees == Sees::all ? "" : ", causal");
}

// Forward and gradient of x under a weight `up`, both in x's type.
template <class Function>
std::vector<at::Tensor> both(const at::Tensor& x, const at::Tensor& up, const Function& function) {
  const at::Tensor leaf = x.detach().clone().requires_grad_();
  const at::Tensor out = function(leaf);
  if (!out.requires_grad()) return {out, at::zeros_like(leaf)};
  (out * up.to(out.scalar_type())).sum().backward();
  return {out.detach(), leaf.grad()};
}

void expect_same(const std::vector<at::Tensor>& own, const std::vector<at::Tensor>& exact,
                 at::ScalarType type, const std::string& what) {
  EXPECT_FALSE(own[0].isnan().any().item<bool>()) << what;
  EXPECT_FALSE(own[1].isnan().any().item<bool>()) << what;
  expect_near(own[0], exact[0], 2 * tolerance(type), what);
  expect_near(own[1], exact[1], 3 * tolerance(type), what + ", gradient");
}

TEST_F(AttentionOnGpu, ByLengthsIsThatOfTheRowsWithoutTheirPadding) {
  for (const at::ScalarType type : types)
    for (const Sees sees : {Sees::all, Sees::not_later})
      for (const Rows& rows : rows_to_try()) {
        const auto options = at::TensorOptions().device(gpu().device());
        const auto count = static_cast<std::int64_t>(rows.lengths.size());
        const at::Tensor x =
            at::randn({count, rows.length, 3, rows.heads, rows.width}, options).to(type);
        const at::Tensor up = at::randn({count, rows.length, rows.heads, rows.width}, options);
        Lengths starts;
        for (std::int64_t b = 0; b < count; ++b) {
          starts.push_back(b * rows.length);
          const std::int64_t used = rows.lengths[static_cast<std::size_t>(b)];
          x[b].narrow(0, used, rows.length - used).fill_(100);
        }
        const at::Tensor lengths = at::tensor(rows.lengths, options.dtype(at::kLong));
        const auto own =
            both(x, up, [&](const at::Tensor& t) { return packed_attention(t, sees, lengths); });
        const auto exact = both(x.to(at::kDouble), up, [&](const at::Tensor& t) {
          return attention_by_definition(t.flatten(0, 1), starts, rows.lengths,
                                         sees == Sees::not_later)
              .view(up.sizes());
        });
        expect_same(own, exact, type, name_of_rows(rows, type, sees));
      }
}

TEST_F(AttentionOnGpu, OverRaggedRowsIsThatOfEachRow) {
  for (const at::ScalarType type : types)
    for (const Sees sees : {Sees::all, Sees::not_later})
      for (const std::int64_t rest : {0, 5})
        for (const Rows& rows : rows_to_try()) {
          const auto options = at::TensorOptions().device(gpu().device());
          Lengths offsets{0};
          for (const std::int64_t length : rows.lengths) offsets.push_back(offsets.back() + length);
          const std::int64_t all = offsets.back() + rest;
          const at::Tensor x = at::randn({all, 3, rows.heads, rows.width}, options).to(type);
          x.narrow(0, offsets.back(), rest).fill_(NAN);
          const at::Tensor up = at::randn({all, rows.heads, rows.width}, options);
          const at::Tensor known = at::tensor(offsets, options.dtype(at::kInt));
          const auto own = both(x, up, [&](const at::Tensor& t) {
            return ragged_attention(t, known, rows.length, sees,
                                    rest == 0 ? Behind::nothing : Behind::anything);
          });
          const auto exact = both(x.to(at::kDouble), up, [&](const at::Tensor& t) {
            return attention_by_definition(t, {offsets.begin(), offsets.end() - 1}, rows.lengths,
                                           sees == Sees::not_later);
          });
          expect_same(own, exact, type, "ragged " + name_of_rows(rows, type, sees));
        }
}

TEST_F(AttentionOnGpu, RepeatsToTheBitWhereThatIsAskedFor) {
  const auto options = at::TensorOptions().device(gpu().device());
  const Deterministic deterministic;
  const at::Tensor lengths = at::tensor({700, 1024, 0, 33}, options.dtype(at::kInt));
  const at::Tensor offsets = at::tensor({0, 700, 1724, 1724, 1757}, options.dtype(at::kInt));
  for (const at::ScalarType type : types) {
    const at::Tensor padded = at::randn({4, 1024, 3, 4, 64}, options).to(type);
    const at::Tensor ragged = at::randn({1757, 3, 4, 64}, options).to(type);
    const auto of_padded = [&] {
      return both(padded, at::ones({}, options), [&](const at::Tensor& t) {
        return packed_attention(t, Sees::all, lengths).square();
      })[1];
    };
    const auto of_ragged = [&] {
      return both(ragged, at::ones({}, options), [&](const at::Tensor& t) {
        return ragged_attention(t, offsets, 1024, Sees::all).square();
      })[1];
    };
    const at::Tensor first = of_padded(), first_ragged = of_ragged();
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(of_padded().equal(first)) << type;
      EXPECT_TRUE(of_ragged().equal(first_ragged)) << type;
    }
  }
}

TEST_F(AttentionOnGpu, HasTheSecondDerivativeOfItsDefinition) {
  const auto options = at::TensorOptions().device(gpu().device());
  const at::Tensor x = at::randn({2, 16, 3, 2, 64}, options);
  const at::Tensor lengths = at::tensor({16, 5}, options.dtype(at::kLong));
  const at::Tensor offsets = at::tensor({0, 16, 21}, options.dtype(at::kLong));
  const auto penalised = [](const testing::Function& function, const at::Tensor& input) {
    const at::Tensor leaf = input.to(at::kDouble).detach().clone().requires_grad_();
    testing::with_penalty(function, {leaf}).backward();
    return leaf.grad();
  };
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    const double allowed = type == at::kFloat ? 1e-3 : 0.1;
    const auto padded = [&](const testing::Tensors& t) {
      return packed_attention(t[0].to(type), Sees::all, lengths).to(at::kDouble);
    };
    const auto exact = [&](const testing::Tensors& t) {
      return attention_by_definition(t[0].flatten(0, 1), {0, 16}, {16, 5}, false)
          .view({2, 16, 2, 64});
    };
    expect_near(penalised(padded, x), penalised(exact, x), allowed, "padded");
    const at::Tensor values = x.flatten(0, 1).narrow(0, 0, 21);
    const auto ragged = [&](const testing::Tensors& t) {
      return ragged_attention(t[0].to(type), offsets, 16, Sees::all).to(at::kDouble);
    };
    const auto exact_ragged = [&](const testing::Tensors& t) {
      return attention_by_definition(t[0], {0, 16}, {16, 5}, false);
    };
    expect_near(penalised(ragged, values), penalised(exact_ragged, values), allowed, "ragged");
  }
}

// Lengths lie on the device, so a graph takes others at each replay.
TEST_F(AttentionOnGpu, InAGraphFollowsTheLengths) {
  const auto options = at::TensorOptions().device(gpu().device());
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    const at::Tensor x = at::randn({2, 64, 3, 2, 64}, options).to(type);
    const at::Tensor values = x.flatten(0, 1);
    const at::Tensor lengths = at::tensor({64, 64}, options.dtype(at::kInt));
    const at::Tensor offsets = at::tensor({0, 64, 128}, options.dtype(at::kInt));
    const auto work = [&] {
      return std::vector<at::Tensor>{packed_attention(x, Sees::all, lengths),
                                     ragged_attention(values, offsets, 64, Sees::all)};
    };
    std::vector<at::Tensor> out = work();
    const auto graph = gpu().capture([&] { out = work(); });
    lengths.copy_(at::tensor({64, 10}, at::kInt));
    offsets.copy_(at::tensor({0, 64, 74}, at::kInt));
    graph->replay();
    const auto now = work();
    EXPECT_TRUE(out[0].equal(now[0])) << type;
    EXPECT_TRUE(out[1].equal(now[1])) << type;
  }
}

}  // namespace
}  // namespace lockstep
