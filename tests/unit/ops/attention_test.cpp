// Attention on the CPU against its definition in f64, forward and backward.
#include "ops/attention/attention.h"

#include "fakes/error_of.h"
#include "fakes/fused_cases.h"
#include "fakes/plain_attention.h"
#include "ops/attention/attention_paths.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace lockstep {
namespace {

using testing::attention_by_definition;
using Lengths = std::vector<std::int64_t>;

constexpr std::int64_t heads = 2, width = 8;

struct Compared {
  at::Tensor out, gradient;
};

// `own` on x [N, 3, H, D] (values) with f64 sums weighted by `up`.
template <class Function>
Compared compare(const at::Tensor& x, const at::Tensor& up, const Function& function) {
  const at::Tensor leaf = x.detach().clone().requires_grad_();
  const at::Tensor out = function(leaf);
  if (!out.requires_grad()) return {out, at::zeros_like(leaf)};  // rows of length 0 alone
  (out.to(at::kDouble) * up).sum().backward();
  return {out.detach(), leaf.grad()};
}

void expect_close(const Compared& own, const Compared& exact, double tolerance,
                  const std::string& what) {
  const auto close = [&](const at::Tensor& a, const at::Tensor& b) {
    return at::allclose(a.to(at::kDouble), b.to(at::kDouble), tolerance, tolerance);
  };
  EXPECT_TRUE(close(own.out, exact.out)) << what;
  EXPECT_TRUE(close(own.gradient, exact.gradient)) << what << " gradient";
}

double tolerance_of(at::ScalarType type) {
  return type == at::kDouble ? 1e-10 : type == at::kFloat ? 2e-5 : 6e-2;
}

class PaddedAttention
    : public ::testing::TestWithParam<std::tuple<Lengths, Sees, at::ScalarType, at::ScalarType>> {};

TEST_P(PaddedAttention, IsThatOfTheRowsWithoutTheirPadding) {
  const auto [lengths, sees, type, length_type] = GetParam();
  const auto rows = static_cast<std::int64_t>(lengths.size());
  const std::int64_t length = 7;
  at::Tensor x = at::randn({rows, length, 3, heads, width}).to(type);
  Lengths starts;
  for (std::int64_t b = 0; b < rows; ++b) {
    starts.push_back(b * length);
    // Padding may hold anything.
    const std::int64_t used = lengths[static_cast<std::size_t>(b)];
    x[b].narrow(0, used, length - used).fill_(NAN);
  }
  const at::Tensor up = at::randn({rows, length, heads, width}, at::kDouble);
  const bool causal = sees == Sees::not_later;
  const at::Tensor known = at::tensor(lengths, at::kLong).to(length_type);
  const Compared own =
      compare(x, up, [&](const at::Tensor& t) { return packed_attention(t, sees, known); });
  const Compared exact = compare(x, up, [&](const at::Tensor& t) {
    return attention_by_definition(t.flatten(0, 1), starts, lengths, causal)
        .view({rows, length, heads, width});
  });
  EXPECT_EQ(own.out.scalar_type(), type);
  expect_close(own, exact, tolerance_of(type), "padded");
}

INSTANTIATE_TEST_SUITE_P(
    Rows, PaddedAttention,
    ::testing::Combine(::testing::Values(Lengths{7, 7}, Lengths{3, 0, 7, 1}, Lengths{0}),
                       ::testing::Values(Sees::all, Sees::not_later),
                       ::testing::Values(at::kDouble, at::kFloat, at::kBFloat16),
                       ::testing::Values(at::kLong, at::kInt)));

TEST(PackedAttention, WithoutLengthsSeesWhatItIsToldTo) {
  for (const Sees sees : {Sees::all, Sees::not_later})
    for (const auto type : {at::kDouble, at::kFloat}) {
      const at::Tensor x = at::randn({2, 5, 3, heads, width}).to(type);
      const at::Tensor up = at::randn({2, 5, heads, width}, at::kDouble);
      const Compared own =
          compare(x, up, [&](const at::Tensor& t) { return packed_attention(t, sees); });
      const Compared exact = compare(x, up, [&](const at::Tensor& t) {
        return attention_by_definition(t.flatten(0, 1), {0, 5}, {5, 5}, sees == Sees::not_later)
            .view({2, 5, heads, width});
      });
      expect_close(own, exact, tolerance_of(type), "without lengths");
    }
}

class RaggedAttention
    : public ::testing::TestWithParam<std::tuple<Lengths, Sees, at::ScalarType, std::int64_t>> {};

TEST_P(RaggedAttention, IsThatOfEachRow) {
  const auto [lengths, sees, type, rest] = GetParam();
  Lengths offsets{0};
  for (const std::int64_t length : lengths) offsets.push_back(offsets.back() + length);
  const std::int64_t all = offsets.back() + rest;
  at::Tensor x = at::randn({all, 3, heads, width}).to(type);
  x.narrow(0, offsets.back(), rest).fill_(NAN);
  const at::Tensor up = at::randn({all, heads, width}, at::kDouble);
  const bool causal = sees == Sees::not_later;
  const at::Tensor known = at::tensor(offsets, at::kLong);
  const Behind behind = rest == 0 ? Behind::nothing : Behind::anything;
  for (const auto offset_type : {at::kLong, at::kInt}) {
    const Compared own = compare(x, up, [&](const at::Tensor& t) {
      return ragged_attention(t, known.to(offset_type), 9, sees, behind);
    });
    const Compared exact = compare(x, up, [&](const at::Tensor& t) {
      return attention_by_definition(t, {offsets.begin(), offsets.end() - 1}, lengths, causal);
    });
    EXPECT_EQ(own.out.scalar_type(), type);
    expect_close(own, exact, tolerance_of(type), "ragged");
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, RaggedAttention,
                         ::testing::Combine(::testing::Values(Lengths{4, 4}, Lengths{3, 0, 9, 1},
                                                              Lengths{0, 0, 2, 0}, Lengths{0}),
                                            ::testing::Values(Sees::all, Sees::not_later),
                                            ::testing::Values(at::kDouble, at::kFloat,
                                                              at::kBFloat16),
                                            ::testing::Values(0, 3)));

TEST(Attention, OfOneKindEqualsThatOfTheOther) {
  const at::Tensor x = at::randn({3, 6, 3, heads, width});
  const at::Tensor lengths = at::tensor({6, 2, 5}, at::kLong);
  const at::Tensor padded = packed_attention(x, Sees::all, lengths);
  const at::Tensor values = at::cat({x[0], x[1].narrow(0, 0, 2), x[2].narrow(0, 0, 5)});
  const at::Tensor ragged =
      ragged_attention(values, at::tensor({0, 6, 8, 13}, at::kLong), 6, Sees::all);
  EXPECT_TRUE(at::allclose(ragged.narrow(0, 6, 2), padded[1].narrow(0, 0, 2), 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(ragged.narrow(0, 8, 5), padded[2].narrow(0, 0, 5), 1e-5, 1e-6));
}

TEST(Attention, HasTheSecondDerivativeOfItsDefinition) {
  const at::Tensor x = at::randn({2, 5, 3, heads, width});
  const at::Tensor lengths = at::tensor({5, 3}, at::kLong);
  const at::Tensor offsets = at::tensor({0, 5, 8}, at::kLong);
  for (const Sees sees : {Sees::all, Sees::not_later}) {
    const bool causal = sees == Sees::not_later;
    const auto penalised = [](const testing::Function& function, const at::Tensor& input) {
      const at::Tensor leaf = input.to(at::kDouble).detach().clone().requires_grad_();
      testing::with_penalty(function, {leaf}).backward();
      return leaf.grad();
    };
    // f32, for which ATen has a fused operator without second derivative.
    const auto own = [&](const testing::Tensors& t) {
      return packed_attention(t[0].to(at::kFloat), sees, lengths).to(at::kDouble);
    };
    const auto exact = [&](const testing::Tensors& t) {
      return attention_by_definition(t[0].flatten(0, 1), {0, 5}, {5, 3}, causal)
          .view({2, 5, heads, width});
    };
    EXPECT_TRUE(at::allclose(penalised(own, x), penalised(exact, x), 1e-3, 1e-3));
    const auto own_ragged = [&](const testing::Tensors& t) {
      return ragged_attention(t[0].to(at::kFloat), offsets, 5, sees).to(at::kDouble);
    };
    const auto exact_ragged = [&](const testing::Tensors& t) {
      return attention_by_definition(t[0], {0, 5}, {5, 3}, causal);
    };
    const at::Tensor values = x.flatten(0, 1).narrow(0, 0, 8);
    EXPECT_TRUE(
        at::allclose(penalised(own_ragged, values), penalised(exact_ragged, values), 1e-3, 1e-3));
  }
}

// What GPUs take, whose lengths the host does not read.
TEST(Attention, WithAMaskIsThatOfTheRowsWithoutTheirPadding) {
  const at::Tensor lengths = at::tensor({5, 0, 3}, at::kLong);
  for (const Sees sees : {Sees::all, Sees::not_later})
    for (const Operators operators : {Operators::fused, Operators::plain}) {
      const at::Tensor x = at::randn({3, 5, 3, heads, width}, at::kDouble);
      x[2].narrow(0, 3, 2).fill_(100);
      const at::Tensor exact =
          attention_by_definition(x.flatten(0, 1), {0, 5, 10}, {5, 0, 3}, sees == Sees::not_later);
      const at::Tensor out = masked_attention(x, sees, lengths, operators);
      EXPECT_TRUE(at::allclose(out, exact.view(out.sizes())));
    }
}

TEST(Attention, MayBeGoneThroughTwiceWhereTheGraphIsKept) {
  const at::Tensor x = at::randn({2, 5, 3, heads, width}).requires_grad_();
  const at::Tensor loss = packed_attention(x, Sees::all).square().sum();
  const at::Tensor once = torch::autograd::grad({loss}, {x}, {}, /*retain_graph=*/true)[0];
  const at::Tensor again = torch::autograd::grad({loss}, {x})[0];
  EXPECT_TRUE(once.equal(again));
}

TEST(Attention, RefusesLengthsAndOffsetsThatCannotBe) {
  const at::Tensor x = at::randn({2, 5, 3, heads, width}), values = x.flatten(0, 1);
  const auto padded = [&](const at::Tensor& lengths) {
    return error_of([&] { packed_attention(x, Sees::all, lengths); });
  };
  EXPECT_NE(padded(at::tensor({5, 6}, at::kLong)).find("from 0 to 5, but one is 6"),
            std::string::npos);
  EXPECT_NE(padded(at::tensor({-1, 2}, at::kLong)).find("one is -1"), std::string::npos);
  EXPECT_NE(padded(at::tensor({5}, at::kLong)).find("each of the 2 rows"), std::string::npos);
  EXPECT_NE(padded(at::tensor({5.0, 2.0})).find("i32 or i64"), std::string::npos);
  const auto ragged = [&](const at::Tensor& offsets) {
    return error_of([&] { ragged_attention(values, offsets, 6, Sees::all); });
  };
  EXPECT_NE(ragged(at::tensor({0, 5, 11}, at::kLong)).find("end at 10 at most"), std::string::npos);
  EXPECT_NE(ragged(at::tensor({1, 5, 8}, at::kLong)).find("from 1 to 8"), std::string::npos);
  EXPECT_NE(ragged(at::tensor({0, 7, 8}, at::kLong)).find("one is 7"), std::string::npos);
  EXPECT_NE(ragged(at::tensor({0, 5, 4}, at::kLong)).find("one is -1"), std::string::npos);
  const at::Tensor short_of_all = at::tensor({0, 5, 8}, at::kLong);
  EXPECT_NO_THROW(ragged_attention(values, short_of_all, 6, Sees::all));
  EXPECT_NE(error_of([&] {
              ragged_attention(values, short_of_all, 6, Sees::all, Behind::nothing);
            }).find("end at 8 of 10"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep
