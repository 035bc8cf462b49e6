// Answers that operations get about their parameters' gradients, and the order they make them in.
#include "ops/gradient_buffer/gradient_writer.h"

#include "fakes/delayed_work.h"
#include "ops/convolution/convolution.h"
#include "ops/gradient_buffer/gradient_registry.h"
#include "ops/linear/joined_linear.h"
#include "ops/linear/linear.h"

#include <gtest/gtest.h>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <ATen/record_function.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace lockstep {
namespace {

// A parameter, and its buffer with zeros; with a side stream within a step.
struct BufferedParameter {
  at::Tensor parameter;
  std::shared_ptr<GradientBuffer> buffer;

  explicit BufferedParameter(const std::vector<std::int64_t>& sizes = {2},
                             at::ScalarType dtype = at::kBFloat16, SideWork* side = nullptr)
      : parameter(at::ones(sizes, dtype).requires_grad_()),
        buffer(std::make_shared<GradientBuffer>("w", at::zeros(sizes))) {
    buffer->set_side_work(side);
    if (side != nullptr) buffer->begin_step(FirstGradient::adds_to_zeros);
    set_gradient_buffer(parameter, buffer);
  }
  BufferedParameter(const BufferedParameter&) = delete;
  BufferedParameter& operator=(const BufferedParameter&) = delete;
  ~BufferedParameter() { forget_gradient_buffer(parameter); }
};

TEST(GradientWriter, AddsUpInTheBufferAndReturnsNothing) {
  const at::NoGradGuard no_grad;
  const BufferedParameter own;
  GradientWriter writer({{.parameter = own.parameter, .needed = true}});
  EXPECT_TRUE(writer.has_buffer(0));
  writer.open_or_zeros(0).into.add_(3);
  EXPECT_TRUE(own.buffer->f32().eq(3).all().item<bool>());
  EXPECT_FALSE(writer.returned(0).defined());
}

TEST(GradientWriter, ReturnsTheGradientOfAParameterWithoutABuffer) {
  const at::NoGradGuard no_grad;
  const at::Tensor parameter = at::ones({2}, at::kBFloat16).requires_grad_();
  GradientWriter writer({{.parameter = parameter, .needed = true}});
  EXPECT_FALSE(writer.has_buffer(0));
  EXPECT_FALSE(writer.open(0).into.defined());
  EXPECT_FALSE(writer.returned(0).defined());
  const GradientTarget target = writer.open_or_zeros(0);
  EXPECT_EQ(target.into.scalar_type(), at::kFloat);
  EXPECT_FALSE(target.overwrite);
  target.into.add_(3);
  EXPECT_TRUE(writer.returned(0).equal(at::full({2}, 3, at::kBFloat16)));
}

TEST(GradientWriter, LeavesAloneWhatThePassDoesNotNeed) {
  const at::NoGradGuard no_grad;
  const BufferedParameter own;
  own.buffer->begin_step(FirstGradient::adds_to_zeros);
  GradientWriter writer({{.parameter = own.parameter, .needed = false}, {.parameter = {}}});
  for (const std::size_t k : {0U, 1U}) {
    EXPECT_FALSE(writer.has_buffer(k));
    EXPECT_FALSE(writer.open(k).into.defined());
  }
  writer.open_or_zeros(0).into.add_(3);  // a kernel that writes all of its results
  EXPECT_FALSE(writer.returned(0).defined());
  EXPECT_EQ(own.buffer->state(), GradientState::empty);
}

TEST(GradientWriter, ChangesNoBufferBeforeItIsOpened) {
  const BufferedParameter own;
  own.buffer->begin_step(FirstGradient::overwrites);
  GradientWriter writer({{.parameter = own.parameter, .needed = true}});
  EXPECT_TRUE(own.buffer->is_stale());
  writer.open(0);
  EXPECT_EQ(own.buffer->state(), GradientState::accumulated);
}

TEST(GradientWriter, UsesTheSideStreamOnlyWhereItServesAllParameters) {
  int done = 0;
  testing::DelayedWork side(done);
  const BufferedParameter with({2}, at::kBFloat16, &side), other({2}, at::kBFloat16, &side),
      without;
  const at::Tensor none, unknown = at::ones({2}).requires_grad_();
  const auto on_side = [&](const at::Tensor& second, bool needed, std::int64_t bytes = 0) {
    return GradientWriter({{.parameter = with.parameter, .needed = true},
                           {.parameter = second, .needed = needed}},
                          bytes)
        .on_side_stream();
  };
  EXPECT_TRUE(on_side(other.parameter, true));
  EXPECT_TRUE(on_side(none, false));
  EXPECT_FALSE(on_side(other.parameter, false));
  EXPECT_FALSE(on_side(without.parameter, true));
  EXPECT_FALSE(on_side(unknown, true));
  EXPECT_TRUE(on_side(none, false, side_work_bytes));
  EXPECT_FALSE(on_side(none, false, side_work_bytes + 1));
  EXPECT_FALSE(GradientWriter({{.parameter = with.parameter, .needed = true}}).on_side_stream());
}

TEST(GradientWriter, RunsWorkLaterOnTheSideStreamOnly) {
  int done = 0, ran = 0;
  testing::DelayedWork side(done);
  const BufferedParameter with({2}, at::kBFloat16, &side), without;
  with.buffer->begin_step(FirstGradient::adds_to_zeros);
  GradientWriter on_side({{.parameter = with.parameter, .needed = true}}, 0);
  on_side.open(0);
  EXPECT_EQ(with.buffer->state(), GradientState::pending);
  on_side.run({}, [&] { ++ran; });
  EXPECT_EQ(ran, 0);
  side.wait_for_all();
  EXPECT_EQ(ran, 1);
  GradientWriter({{.parameter = without.parameter, .needed = true}}, 0).run({}, [&] { ++ran; });
  EXPECT_EQ(ran, 2);
}

// Both are written by one product.
TEST(GradientWriter, RoundsAllGradientsOfAWorkOrNone) {
  for (const bool second_rounds : {true, false}) {
    const BufferedParameter first, second;
    for (const BufferedParameter* one : {&first, &second}) {
      one->buffer->set_reduce_buffer(at::zeros({2}, at::kBFloat16));
      one->buffer->begin_step(one == &first || second_rounds
                                  ? FirstGradient::overwrites_reduce_buffer
                                  : FirstGradient::overwrites);
    }
    const GradientAbility can{.overwrites = true, .rounds = true};
    GradientWriter writer({{.parameter = first.parameter, .needed = true, .can = can},
                           {.parameter = second.parameter, .needed = true, .can = can}});
    writer.round_all_or_none(0, 2);
    for (const std::size_t k : {0U, 1U}) {
      const GradientTarget target = writer.open(k);
      EXPECT_TRUE(target.overwrite);
      EXPECT_EQ(target.into.scalar_type(), second_rounds ? at::kBFloat16 : at::kFloat);
    }
  }
}

// Notes in `order` that side work was enqueued, and leaves it undone.
class NotedWork : public SideWork {
 public:
  explicit NotedWork(std::string& order) : order_(order) {}
  std::int64_t run(const std::vector<at::Tensor>&, const std::function<void()>&) override {
    order_ += "side ";
    return 1;
  }
  void wait(std::int64_t) override {}
  void wait_for_all() override {}

 private:
  std::string& order_;
};

std::string* products = nullptr;  // where the products of a backward pass are noted
std::unique_ptr<at::ObserverContext> note_product(const at::RecordFunction& function) {
  const std::string name = function.name();
  if (name == "aten::mm" || name == "aten::addmm" || name == "aten::convolution_backward")
    *products += "product ";
  return nullptr;
}

// The order in which the backward pass of y enqueues work.
std::string order_of(const at::Tensor& y, std::string& order) {
  products = &order;
  const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(&note_product));
  order.clear();
  y.backward(at::ones_like(y));
  at::removeCallback(handle);
  return order;
}

// So the gradient of the input, which the rest of the pass waits for, is not behind them.
TEST(OperationsWithParameters, EnqueueTheirGradientsOnTheSideStreamFirst) {
  std::string order;
  NotedWork side(order);
  const at::Tensor x = at::ones({4, 3}).requires_grad_();
  const BufferedParameter w({2, 3}, at::kFloat, &side), b({2}, at::kFloat, &side);
  EXPECT_EQ(order_of(linear_layer(x, w.parameter, b.parameter), order), "side product ");
  const BufferedParameter w1({2, 3}, at::kFloat, &side), w2({2, 3}, at::kFloat, &side);
  const BufferedParameter b1({2}, at::kFloat, &side), b2({2}, at::kFloat, &side);
  const ThreeTensors weights{w.parameter, w1.parameter, w2.parameter};
  const ThreeTensors biases{b.parameter, b1.parameter, b2.parameter};
  EXPECT_EQ(order_of(joined_linear(x, weights, biases), order), "side side product ");
  const BufferedParameter filter({2, 1, 1, 1}, at::kFloat, &side);
  const at::Tensor picture = at::ones({1, 1, 2, 2}).requires_grad_();
  EXPECT_EQ(order_of(convolution(picture, filter.parameter), order), "side product ");
}

TEST(OperationsWithParameters, MakeTheGradientOfTheInputFirstWithoutASideStream) {
  std::string order;
  const at::Tensor x = at::ones({4, 3}).requires_grad_();
  const BufferedParameter w({2, 3}, at::kFloat);
  // The weight's gradient waits for a reader of its buffer.
  w.buffer->begin_step(FirstGradient::adds_to_zeros);
  w.buffer->set_reader([&order] { order += "weight "; });
  EXPECT_EQ(order_of(linear_layer(x, w.parameter, {}), order), "product weight product ");
}

}  // namespace
}  // namespace lockstep
