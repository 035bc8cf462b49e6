// Gradients that are written over what lies in their place: the same as those added to zeros.
#include "fakes/plan_steps.h"
#include "fakes/thread_ranks.h"
#include "ops/linear/joined_linear.h"
#include "ops/linear/linear.h"
#include "training/gradients/gradient_reduction.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <c10/util/accumulate.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

namespace lockstep {
namespace {

// A product, joined products, a convolution, a table, a parameter with two names, one that only
// some steps reach and one that none does.
struct Mixed {
  std::vector<Parameter> parameters;
  at::Tensor weight, bias, q, k, v, qb, kb, vb, filter, table, rare, unused;

  Mixed() {
    const auto add = [&](const std::string& name, const std::vector<std::int64_t>& sizes) {
      // Not drawn: ranks are threads here, and would share torch's generator.
      const std::int64_t count = c10::multiply_integers(sizes);
      const double first = 1.7 * static_cast<double>(parameters.size());
      at::Tensor made = at::arange(count, at::kFloat).mul(0.9).add(first).sin().view(sizes);
      made = made.requires_grad_();
      parameters.push_back({.name = name, .tensor = made});
      return made;
    };
    weight = add("weight", {8, 8});
    bias = add("bias", {8});
    q = add("q", {8, 8}), k = add("k", {8, 8}), v = add("v", {8, 8});
    qb = add("qb", {8}), kb = add("kb", {8}), vb = add("vb", {8});
    filter = add("filter", {2, 1, 3, 3});
    table = add("table", {5, 8});
    rare = add("rare", {8, 8});
    unused = add("unused", {4});
  }
  void backward(std::int64_t number, bool reaches_rare) const {
    const double factor = 1 + 0.25 * static_cast<double>(number);
    const at::Tensor tokens = at::tensor({number % 5, (number + 2) % 5}, at::kLong);
    at::Tensor x = at::embedding(table, tokens).mul(0.1 * factor);  // fits f16
    x = linear_layer(linear_layer(x, weight, bias), weight, bias);  // twice
    x = joined_linear(x, {q, k, v}, {qb, kb, vb}).sum(-2);
    if (reaches_rare) x = linear_layer(x, rare, {});
    at::conv2d(x.view({1, 1, 2, 8}), filter, {}, 1, 1).square().sum().mul(1e-3).backward();
  }
};

struct ArenaCase {
  at::ScalarType dtype;
  int micro_batches, ranks;  // 0 micro-batches: another number in some steps
  ReducePrecision reduce = ReducePrecision::fp32;
};
void PrintTo(const ArenaCase& one, std::ostream* out) {
  *out << one.dtype << ", " << one.micro_batches << " micro-batches, " << one.ranks << " ranks, "
       << (one.reduce == ReducePrecision::bf16 ? "bf16" : "fp32");
}

// The gradients of some steps; zeroed: as if every place were zeroed before each of them.
std::vector<at::Tensor> steps(const ArenaCase& one, bool zeroed, ProcessGroup& group) {
  Mixed model;
  ParameterStorage storage(model.parameters, at::kCPU, one.dtype);
  GradientBuffers gradients(storage);
  Reducer reducer(gradients, group, one.reduce);
  const auto sum = make_bucket_reduction(gradients, reducer);
  std::vector<at::Tensor> all;
  for (int step = 0; step < 8; ++step) {
    const int micro_batches = one.micro_batches > 0 ? one.micro_batches : 1 + step % 4 / 2;
    {
      const at::NoGradGuard no_grad;
      // What is not zeroed must be written: nothing that is left of before may show.
      gradients.flat().fill_(NAN);
      if (gradients.sums().defined()) gradients.sums().fill_(NAN);
    }
    sum->begin_step(micro_batches);
    if (zeroed) gradients.zero();
    for (int m = 0; m < micro_batches; ++m) {
      const bool last = m + 1 == micro_batches;
      sum->begin_backward(last);
      model.backward((step * micro_batches + m) * one.ranks + group.rank(), step % 3 != 1);
      sum->end_backward(last);
    }
    if (step == 0) testing::plan_steps(gradients);
    sum->finish();
    for (std::size_t i = 0; i < storage.parameters().size(); ++i)
      all.push_back(storage.view(gradients.flat(), i).clone());
  }
  return all;
}

class WrittenGradients : public ::testing::TestWithParam<ArenaCase> {};

TEST_P(WrittenGradients, AreThoseThatAreAddedToZeros) {
  testing::with_ranks(GetParam().ranks, [](ProcessGroup& group) {
    const auto expected = steps(GetParam(), true, group);
    const auto found = steps(GetParam(), false, group);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_TRUE(found[i].equal(expected[i])) << "tensor " << i % 12 << " in step " << i / 12;
    EXPECT_GT(found[0].abs().sum().item<double>(), 0);
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, WrittenGradients,
                         ::testing::Values(ArenaCase{at::kBFloat16, 1, 1},
                                           ArenaCase{at::kBFloat16, 3, 1},
                                           ArenaCase{at::kBFloat16, 2, 2},
                                           ArenaCase{at::kHalf, 1, 2}, ArenaCase{at::kFloat, 2, 2},
                                           ArenaCase{at::kBFloat16, 1, 2, ReducePrecision::bf16},
                                           ArenaCase{at::kBFloat16, 0, 2, ReducePrecision::bf16},
                                           ArenaCase{at::kHalf, 1, 2, ReducePrecision::bf16},
                                           ArenaCase{at::kFloat, 2, 2, ReducePrecision::bf16}));

// The only gradient of a parameter in a step, where ranks add up in bf16: so it is once the step
// before showed that it is the only one.
TEST(WrittenGradients, AreWrittenWhereTheSumIsMade) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    Mixed model;
    ParameterStorage storage(model.parameters, at::kCPU, at::kBFloat16);
    GradientBuffers gradients(storage);
    Reducer reducer(gradients, group, ReducePrecision::bf16);
    const auto sum = make_bucket_reduction(gradients, reducer);
    for (int step = 0; step < 3; ++step) {
      const bool is_last = step == 2;
      sum->begin_step(1);
      if (is_last) {
        const at::NoGradGuard no_grad;
        gradients.flat().fill_(7);
      }
      sum->begin_backward(!is_last);
      model.backward(step, true);
      sum->end_backward(!is_last);
      if (step == 0) testing::plan_steps(gradients);
      if (!is_last) sum->finish();
    }
    std::vector<std::string> elsewhere;
    for (std::size_t i = 0; i < storage.parameters().size(); ++i)
      if (storage.view(gradients.flat(), i).eq(7).all().item<bool>() &&
          storage.view(gradients.sums(), i).abs().sum().item<double>() > 0)
        elsewhere.push_back(storage.parameters()[i].name);
    EXPECT_EQ(elsewhere, (std::vector<std::string>{"q", "k", "v", "filter", "table", "rare"}));
  });
}

// After the first step the places of products are left as they are, those of biases are not.
TEST(WrittenGradients, NeedNoZeros) {
  testing::with_ranks(1, [](ProcessGroup& group) {
    Mixed model;
    ParameterStorage storage(model.parameters, at::kCPU, at::kBFloat16);
    GradientBuffers gradients(storage);
    Reducer reducer(gradients, group, ReducePrecision::fp32);
    const auto sum = make_bucket_reduction(gradients, reducer);
    for (int step = 0; step < 3; ++step) {
      sum->begin_step(1);
      sum->begin_backward(true);
      model.backward(step, true);
      sum->end_backward(true);
      if (step == 0) testing::plan_steps(gradients);
      sum->finish();
    }
    const at::NoGradGuard no_grad;
    gradients.flat().fill_(7);
    gradients.begin_step();
    std::vector<std::string> written;
    for (std::size_t i = 0; i < storage.parameters().size(); ++i)
      if (storage.view(gradients.flat(), i).abs().sum().item<double>() > 0)
        written.push_back(storage.parameters()[i].name);
    EXPECT_EQ(written,
              (std::vector<std::string>{"weight", "q", "k", "v", "filter", "table", "rare"}));
  });
}

// A step that memory ran out in leaves zeros, and the next one is right.
TEST(WrittenGradients, AreRightAfterAStepThatBrokeOff) {
  testing::with_ranks(1, [](ProcessGroup& group) {
    std::vector<at::Tensor> found;
    for (const bool breaks : {false, true}) {
      Mixed model;
      ParameterStorage storage(model.parameters, at::kCPU, at::kBFloat16);
      GradientBuffers gradients(storage);
      Reducer reducer(gradients, group, ReducePrecision::fp32);
      const auto sum = make_bucket_reduction(gradients, reducer);
      for (int step = 0; step < 5; ++step) {
        sum->begin_step(1);
        if (breaks && step == 3) {
          sum->skip_rest();
          sum->finish();
          EXPECT_EQ(gradients.flat().abs().sum().item<double>(), 0);
          continue;
        }
        sum->begin_backward(true);
        model.backward(step, true);
        sum->end_backward(true);
        if (step == 0) testing::plan_steps(gradients);
        sum->finish();
      }
      found.push_back(gradients.flat().clone());
    }
    EXPECT_TRUE(found[0].equal(found[1]));
  });
}

// A step that never came to its sum, as a capture that failed, and a pass between two steps, as a
// recipe's evaluation may make one.
TEST(WrittenGradients, AreRightAfterPassesThatBelongToNoStep) {
  testing::with_ranks(1, [](ProcessGroup& group) {
    std::vector<at::Tensor> found;
    for (const bool disturbed : {false, true}) {
      Mixed model;
      ParameterStorage storage(model.parameters, at::kCPU, at::kBFloat16);
      GradientBuffers gradients(storage);
      Reducer reducer(gradients, group, ReducePrecision::fp32);
      const auto sum = make_bucket_reduction(gradients, reducer);
      for (int step = 0; step < 5; ++step) {
        if (disturbed) model.backward(step + 7, true);
        if (disturbed && step > 1) {
          sum->begin_step(1);
          sum->begin_backward(true);
          model.backward(step + 9, true);
          sum->reset();
        }
        sum->begin_step(1);
        sum->begin_backward(true);
        model.backward(step, true);
        sum->end_backward(true);
        if (step == 0) testing::plan_steps(gradients);
        sum->finish();
        for (std::size_t i = 0; i < storage.parameters().size(); ++i)
          EXPECT_EQ(gradients[i].state(), GradientState::reduced);
      }
      found.push_back(gradients.flat().clone());
    }
    EXPECT_TRUE(found[0].equal(found[1]));
  });
}

}  // namespace
}  // namespace lockstep
