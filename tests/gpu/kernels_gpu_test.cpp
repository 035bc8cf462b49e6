// Our kernels against their ATen references in f64, forward and backward, for every type and for
// sizes that fit no vector.
#include "fakes/fused_cases.h"
#include "fakes/step_scalar_cases.h"
#include "fakes/toy_recipe.h"
#include "gpu/gpu_fixture.h"
#include "gpu/near.h"
#include "ops/activation/activation.h"
#include "ops/attention/attention.h"
#include "ops/copy_all/copy_all.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/dropout/dropout.h"
#include "ops/embedding/embedding.h"
#include "ops/gradient_buffer/gradient_registry.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/linear/linear.h"
#include "training/gradients/gradient_buffers.h"
#include "training/update/optimizer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <string>
#include <vector>

namespace lockstep {
namespace {

using KernelTest = GpuTest;

using testing::expect_near, testing::tolerance, testing::types;

TEST_F(KernelTest, CrossEntropyAgreesWithItsReference) {
  for (const at::ScalarType type : types)
    for (const std::int64_t classes : {1, 2, 7, 8, 256, 257, 1000, 1024, 4096, 8192, 8200, 16392,
                                       24576, 40000, 50257, 50304, 65536, 65544}) {
      const std::int64_t rows = 37;
      const auto options = at::TensorOptions().device(gpu().device());
      const at::Tensor logits = (at::randn({rows, classes}, options) * 4).to(type);
      at::Tensor targets = at::randint(classes, {rows}, options.dtype(at::kLong));
      targets[3] = -100;
      const at::Tensor scale = at::full({}, 0.37, options);
      const at::Tensor exact = logits.to(at::kDouble);
      const at::Tensor losses = cross_entropy_reference(exact, targets, scale);
      at::Tensor own = logits.clone();
      const at::Tensor own_losses = cross_entropy_in_place(own, targets, scale);
      const std::string what = std::string(c10::toString(type)) + " " + std::to_string(classes);
      expect_near(own_losses, losses, 1e-5, "losses " + what);
      expect_near(own, exact, tolerance(type), "gradient " + what);
      EXPECT_TRUE(own[3].eq(0).all().item<bool>());
    }
}

TEST_F(KernelTest, CrossEntropyOfExtremeLogitsIsFinite) {
  const auto options = at::TensorOptions().device(gpu().device());
  at::Tensor logits = at::full({2, 4096}, -3e38, options);
  logits[0][5] = 3e38;
  logits[1].fill_(3e38);
  const at::Tensor targets = at::full({2}, 5, options.dtype(at::kLong));
  const at::Tensor losses = cross_entropy_in_place(logits, targets, at::full({}, 1.0, options));
  EXPECT_NEAR(losses[0].item<double>(), 0, 1e-6);
  EXPECT_NEAR(losses[1].item<double>(), std::log(4096.0), 1e30);
  EXPECT_FALSE(logits.isnan().any().item<bool>());
}

TEST_F(KernelTest, LayerNormAgreesWithATen) {
  for (const at::ScalarType type : types)
    for (const std::int64_t width : {8, 64, 384, 520, 768, 1024, 1600, 2048, 7, 100, 4096})
      for (const std::int64_t rows : {1, 5, 1000, 1500})  // few, and many
        for (const bool with_branch : {true, false}) {
          const auto options = at::TensorOptions().device(gpu().device());
          const auto fresh = [&](at::IntArrayRef sizes) {
            return at::randn(sizes, options).to(type);
          };
          const at::Tensor x = fresh({rows, width}), branch = fresh({rows, width});
          const at::Tensor weight = fresh({width}), bias = fresh({width});
          const at::Tensor up_sum = fresh({rows, width}), up_normed = fresh({rows, width});
          const auto run = [&](at::ScalarType work) {
            std::vector<at::Tensor> leaves;
            for (const at::Tensor& tensor : {x, branch, weight, bias})
              leaves.push_back(tensor.to(work).detach().clone().requires_grad_());
            const auto [sum, normed] = residual_layer_norm(
                leaves[0], with_branch ? leaves[1] : at::Tensor(), leaves[2], leaves[3], 1e-5);
            (sum.mul(up_sum.to(work)).sum() + normed.mul(up_normed.to(work)).sum()).backward();
            std::vector<at::Tensor> all{sum.detach(), normed.detach()};
            for (const at::Tensor& leaf : leaves)
              if (leaf.grad().defined()) all.push_back(leaf.grad());
            return all;
          };
          const auto own = run(type), exact = run(at::kDouble);
          ASSERT_EQ(own.size(), exact.size());
          const std::string what = std::string(c10::toString(type)) + " width " +
                                   std::to_string(width) + " rows " + std::to_string(rows);
          for (std::size_t i = 0; i < own.size(); ++i)
            expect_near(own[i], exact[i], 2 * tolerance(type), what + " #" + std::to_string(i));
        }
}

// Rows of one length and ragged ones, of which some items belong to none; p of 1 has no threshold.
TEST_F(KernelTest, LayerNormWithDropoutIsThatOfTheDroppedBranchToTheBit) {
  const auto options = at::TensorOptions().device(gpu().device());
  const at::Tensor counters = at::tensor({7, 3, 20}, at::kLong).to(gpu().device());
  const at::Tensor offsets = at::tensor({0, 3, 3, 41, 50}, at::kLong).to(gpu().device());
  for (const at::ScalarType type : types)
    for (const std::int64_t width : {8, 768, 1024, 7})
      for (const bool ragged : {false, true})
        for (const auto& [p, items] : std::vector<std::pair<double, std::int64_t>>{
                 {0, 13}, {0.1, 13}, {0.1, 300}, {0.5, 13}, {1, 13}}) {
          const std::vector<std::int64_t> sizes = ragged
                                                      ? std::vector<std::int64_t>{4 * items, width}
                                                      : std::vector<std::int64_t>{4, items, width};
          const auto fresh = [&](at::IntArrayRef of) { return at::randn(of, options).to(type); };
          const at::Tensor x = fresh(sizes), branch = fresh(sizes), weight = fresh({width}),
                           bias = fresh({width}), up_sum = fresh(sizes), up_normed = fresh(sizes);
          const DropoutDraw draw{
              .p = p, .counters = counters, .offsets = ragged ? offsets : at::Tensor(), .layer = 5};
          const auto run = [&](bool fused) {
            std::vector<at::Tensor> leaves;
            for (const at::Tensor& tensor : {x, branch, weight, bias})
              leaves.push_back(tensor.detach().clone().requires_grad_());
            const auto [sum, normed] =
                fused ? residual_layer_norm(leaves[0], leaves[1], leaves[2], leaves[3], 1e-5, draw)
                      : residual_layer_norm(leaves[0], dropout(leaves[1], draw), leaves[2],
                                            leaves[3], 1e-5);
            (sum.mul(up_sum).sum() + normed.mul(up_normed).sum()).backward();
            std::vector<at::Tensor> all{sum.detach(), normed.detach()};
            for (const at::Tensor& leaf : leaves) all.push_back(leaf.grad());
            return all;
          };
          const auto own = run(true), expected = run(false);
          for (std::size_t i = 0; i < own.size(); ++i)
            EXPECT_TRUE(own[i].equal(expected[i]))
                << type << " width " << width << (ragged ? " ragged" : "") << " p " << p << " #"
                << i;
        }
}

TEST_F(KernelTest, ActivationsWithABiasAgreeWithATen) {
  const auto options = at::TensorOptions().device(gpu().device());
  for (const at::ScalarType type : types)
    for (const std::int64_t columns : {8, 3072, 7})
      for (const Activation kind : {Activation::gelu, Activation::gelu_tanh, Activation::relu})
        for (const bool with_bias : {false, true}) {
          const at::Tensor x = (at::randn({300, columns}, options) * 3).to(type);
          const at::Tensor bias = at::randn({columns}, options).to(type);
          const at::Tensor up = at::randn({300, columns}, options).to(type);
          const auto run = [&](at::ScalarType work) {
            at::Tensor own = x.to(work).detach().clone().requires_grad_();
            at::Tensor own_bias = bias.to(work).detach().clone().requires_grad_();
            const at::Tensor added = with_bias ? own_bias : at::Tensor();
            const at::Tensor y = kind == Activation::relu
                                     ? bias_relu(own, added)
                                     : bias_gelu(own, added, kind == Activation::gelu_tanh);
            y.mul(up.to(work)).sum().backward();
            std::vector<at::Tensor> all{y.detach(), own.grad()};
            if (with_bias) all.push_back(own_bias.grad());
            return all;
          };
          const auto own = run(type), exact = run(at::kDouble);
          for (std::size_t i = 0; i < own.size(); ++i)
            expect_near(own[i], exact[i], 2 * tolerance(type), std::string(c10::toString(type)));
        }
}

TEST_F(KernelTest, BiasGeluOfExtremeValues) {
  const auto options = at::TensorOptions().device(gpu().device());
  for (const at::ScalarType type : types)
    for (const bool tanh : {false, true}) {
      at::Tensor x = at::zeros({16}, options).to(type);
      x[0] = 60000;
      x[1] = -60000;
      x[2] = 12;
      x[3] = -12;
      x.requires_grad_();
      const at::Tensor y = bias_gelu(x, {}, tanh);
      y.sum().backward();
      EXPECT_EQ(y[0].item<double>(), x[0].item<double>());
      EXPECT_EQ(y[1].item<double>(), 0);
      EXPECT_EQ(y[2].item<double>(), 12);
      EXPECT_EQ(x.grad()[0].item<double>(), 1);
      EXPECT_EQ(x.grad()[1].item<double>(), 0);
      EXPECT_NEAR(x.grad()[5].item<double>(), 0.5, 1e-6);
    }
}

TEST_F(KernelTest, EmbeddingAgreesWithATen) {
  const auto options = at::TensorOptions().device(gpu().device());
  for (const at::ScalarType type : types)
    for (const std::int64_t width : {8, 384, 7})
      for (const std::int64_t vocab : {3, 5000}) {
        const at::Tensor tokens = at::randint(vocab, {4, 33}, options.dtype(at::kLong));
        const at::Tensor weight = at::randn({vocab, width}, options).to(type).requires_grad_();
        const at::Tensor positions = at::randn({33, width}, options).to(type).requires_grad_();
        const at::Tensor up = at::randn({4, 33, width}, options).to(type);
        const at::Tensor of_weight = at::full({vocab, width}, 2.0, options);
        const at::Tensor of_positions = at::full({33, width}, 3.0, options);
        set_gradient_buffer(weight, of_weight);
        set_gradient_buffer(positions, of_positions);
        const at::Tensor y = embed_tokens(tokens, weight, positions);
        y.mul(up).sum().backward();
        forget_gradient_buffer(weight);
        forget_gradient_buffer(positions);
        const std::string what = std::string(c10::toString(type)) + " " + std::to_string(width);
        const at::Tensor w = weight.detach().to(at::kDouble),
                         p = positions.detach().to(at::kDouble);
        expect_near(y.detach(), w.index_select(0, tokens.flatten()).view({4, 33, width}) + p,
                    tolerance(type), what);
        if (width % 8 != 0) {  // ATen's own path leaves them to autograd
          EXPECT_TRUE(weight.grad().defined());
          continue;
        }
        EXPECT_FALSE(weight.grad().defined());
        const at::Tensor wide = up.to(at::kDouble);
        const at::Tensor expected =
            at::zeros_like(w).index_add(0, tokens.flatten(), wide.flatten(0, 1));
        expect_near(of_weight - 2, expected, 1e-5, what);
        expect_near(of_positions - 3, wide.sum(0), 1e-5, what);
      }
}

// Few and many tokens, so that those of one lie within a piece of the order, on its ends, and over
// many pieces; more than two bytes can number; more rows than ATen sorts in one block.
TEST_F(KernelTest, DeterministicEmbeddingAddsUpInTheOrderOfTheRows) {
  const auto options = at::TensorOptions().device(gpu().device());
  const Deterministic deterministic;
  for (const at::ScalarType type : types)
    for (const std::int64_t vocab : {1, 2, 65, 5000, 50257, 70000})
      for (const std::int64_t length : {1, 31, 32, 33, 1024, 2048}) {
        const std::int64_t width = vocab == 70000 ? 8 : 264;
        at::Tensor tokens = at::randint(vocab, {4, length}, options.dtype(at::kLong));
        tokens[1].fill_(vocab - 1);
        const at::Tensor weight = at::randn({vocab, width}, options).to(type).requires_grad_();
        const at::Tensor positions = at::randn({length, width}, options).to(type).requires_grad_();
        const at::Tensor up = at::randn({4, length, width}, options).to(type);
        const at::Tensor wide = up.to(at::kDouble);
        const at::Tensor expected = at::zeros({vocab, width}, options.dtype(at::kDouble))
                                        .index_add(0, tokens.flatten(), wide.flatten(0, 1));
        at::Tensor first;
        for (int repeat = 0; repeat < 3; ++repeat) {
          const at::Tensor of_weight = at::full({vocab, width}, 2.0, options);
          const at::Tensor of_positions = at::full({length, width}, 3.0, options);
          set_gradient_buffer(weight, of_weight);
          set_gradient_buffer(positions, of_positions);
          embed_tokens(tokens, weight, positions).mul(up).sum().backward();
          forget_gradient_buffer(weight);
          forget_gradient_buffer(positions);
          EXPECT_FALSE(weight.grad().defined());
          if (!first.defined()) first = of_weight;
          EXPECT_TRUE(at::equal(of_weight, first));
          const std::string what = std::string(c10::toString(type)) + " " + std::to_string(vocab) +
                                   " " + std::to_string(length);
          expect_near(of_weight - 2, expected, 1e-4, what);
          expect_near(of_positions - 3, wide.sum(0), 1e-5, what);
        }
      }
}

TEST_F(KernelTest, AdamAgreesWithATensOptimizer) {
  for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::adam}) {
    TrainOptions train;
    train.optimizer.kind = kind;
    train.optimizer.weight_decay = 0.1;
    std::vector<at::Tensor> results;
    for (const at::Device device : {gpu().device(), at::Device(at::kCPU)}) {
      testing::ToyModel model(1);
      ParameterStorage storage(model.parameters(), device, at::kBFloat16);
      GradientBuffers gradients(storage);
      Optimizer optimizer(train, gradients);
      for (int step = 0; step < 20; ++step) {
        gradients.flat().copy_(at::linspace(-1 - step, 2, gradients.flat().numel()));
        if (step == 7) gradients.flat()[3] = std::nan("");
        optimizer.step(0.01);
      }
      EXPECT_TRUE(storage.weights().equal(storage.master().to(at::kBFloat16)));
      results.push_back(storage.master().cpu());
    }
    expect_near(results[0], results[1], 1e-5, "weights");
  }
}

// What ranks added up in bf16 is read there.
TEST_F(KernelTest, AdamReadsSumsInBf16) {
  TrainOptions train;
  train.optimizer.clip = 0.5;
  std::vector<at::Tensor> results, norms;
  for (const at::Device device : {gpu().device(), at::Device(at::kCPU)}) {
    testing::ToyModel model(1);
    ParameterStorage storage(model.parameters(), device, at::kBFloat16);
    GradientBuffers gradients(storage);
    gradients.reduce_buffer().allocate();
    Optimizer optimizer(train, gradients);
    ASSERT_EQ(optimizer.reads_low_sums(), device.is_cuda());
    const std::vector<ParameterObservation> seen(storage.parameters().size());
    gradients.use(optimizer.prepare_plan(
        make_update_plan(seen, {.low_precision = true, .reads_low_sums = device.is_cuda()})));
    ASSERT_EQ(gradients.plan().reads_reduce_buffer(), device.is_cuda());
    for (int step = 0; step < 5; ++step) {
      const at::Tensor sums = at::linspace(-1 - step, 2, gradients.sums().numel());
      gradients.sums().copy_(sums);
      gradients.flat().copy_(sums.to(at::kBFloat16));
      if (device.is_cuda()) {
        gradients.flat().fill_(std::nan(""));
        optimizer.find_norm_of(gradients.sums(), /*now=*/true);
      }
      optimizer.step(0.01);
    }
    results.push_back(storage.master().cpu());
    norms.push_back(optimizer.gradient_norm().cpu());
  }
  expect_near(results[0], results[1], 1e-5, "weights");
  EXPECT_NEAR(norms[0].item<double>(), norms[1].item<double>(), 1e-4);
}

TEST_F(KernelTest, NumbersOfAStepAreThoseOfATen) {
  testing::expect_update_scalars(at::TensorOptions().device(gpu().device()));
  testing::expect_numbers(at::TensorOptions().device(gpu().device()));
}

// Sizes that need several blocks, several launches, and other vectors.
TEST_F(KernelTest, TensorsAreCopiedAtOnce) {
  const auto bytes = at::TensorOptions().device(gpu().device()).dtype(at::kByte);
  Copies copies;
  for (const std::int64_t size : {0, 1, 3, 4, 16, 20, 16383, 16384, 16385, 100000, 0, 32768})
    for (const std::int64_t shift : {0, 1, 4, 16}) {
      const at::Tensor from = at::randint(256, {size + shift}, bytes).narrow(0, shift, size);
      copies.emplace_back(at::zeros({size + 16}, bytes).narrow(0, 0, size), from);
    }
  const at::Tensor turned = at::randint(256, {30, 40}, bytes).t();
  copies.emplace_back(at::zeros({40, 30}, bytes), turned);
  const auto f32 = bytes.dtype(at::kFloat);
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf})
    for (const std::int64_t size : {0, 1, 8, 9, 8192, 8200, 100003}) {
      copies.emplace_back(at::zeros({size}, f32), at::randn({size}, f32).to(type));
      copies.emplace_back(at::zeros({size}, f32.dtype(type)), at::randn({size}, f32));
      const at::Tensor lasts =
          at::randn({2, 8, 3, size + 1}, f32).to(type).contiguous(at::MemoryFormat::ChannelsLast);
      copies.emplace_back(at::zeros_like(lasts, f32), lasts);
    }
  copy_all(copies);
  for (const auto& [to, from] : copies) {
    EXPECT_TRUE(at::equal(to, from.to(to.scalar_type()))) << from.sizes();
    if (to.dim() != 1 || to.scalar_type() != at::kByte) continue;
    const at::Tensor behind =
        at::empty({0}, bytes)
            .set_(to.storage(), 0, {static_cast<std::int64_t>(to.storage().nbytes())});
    EXPECT_TRUE(behind.narrow(0, to.numel(), 16).eq(0).all().item<bool>());
  }
}

TEST_F(KernelTest, LinearAddsItsGradientsIntoTheBuffersInF32) {
  const auto options = at::TensorOptions().device(gpu().device());
  for (const at::ScalarType type : types) {
    const at::Tensor weight = at::randn({40, 24}, options).to(type).requires_grad_();
    const at::Tensor bias = at::randn({40}, options).to(type).requires_grad_();
    const at::Tensor x = at::randn({3, 50, 24}, options).to(type).requires_grad_();
    const at::Tensor of_weight = at::full({40, 24}, 2.0, options);
    const at::Tensor of_bias = at::full({40}, 3.0, options);
    set_gradient_buffer(weight, of_weight);
    set_gradient_buffer(bias, of_bias);
    const at::Tensor up = at::randn({3, 50, 40}, options).to(type);
    linear_layer(x, weight, bias).mul(up).sum().backward();
    forget_gradient_buffer(weight);
    forget_gradient_buffer(bias);
    EXPECT_FALSE(weight.grad().defined());
    EXPECT_FALSE(bias.grad().defined());
    const at::Tensor wide = up.to(at::kDouble).flatten(0, 1);
    expect_near(of_weight - 2, wide.t().mm(x.detach().to(at::kDouble).flatten(0, 1)),
                type == at::kFloat ? 1e-6 : 1e-5, c10::toString(type));
    expect_near(of_bias - 3, wide.sum(0), 1e-5, c10::toString(type));
    expect_near(x.grad(), up.to(at::kDouble).matmul(weight.detach().to(at::kDouble)),
                tolerance(type), c10::toString(type));
  }
}

// As tests/unit/ops/partial_backward_test.cpp on the CPU.
TEST_F(KernelTest, AGradientOfSomeTensorsLeavesTheBuffersOfTheOthersAlone) {
  for (const auto& test : testing::fused_cases(at::TensorOptions().device(gpu().device())))
    for (std::size_t i = 0; i < test.inputs.size(); ++i) {
      const testing::Buffered own(test.inputs);
      const testing::Tensors plain = testing::leaves_of(test.inputs);
      const auto gradient = [&](const at::Tensor& y, const at::Tensor& leaf) {
        return torch::autograd::grad({testing::score(y)}, {leaf}).at(0);
      };
      expect_near(gradient(test.own(own.leaves), own.leaves[i]),
                  gradient(test.plain(plain), plain[i]), 1e-4, test.name);
      for (const at::Tensor& buffer : own.buffers)
        EXPECT_TRUE(buffer.eq(0).all().item<bool>()) << test.name << " #" << i;
    }
}

TEST_F(KernelTest, AGradientPenaltyHasTheGradientOfATens) {
  for (const auto& test : testing::fused_cases(at::TensorOptions().device(gpu().device()))) {
    if (test.name == "recomputed") continue;
    const testing::Buffered own(test.inputs);
    const testing::Tensors plain = testing::leaves_of(test.inputs);
    testing::with_penalty(test.own, own.leaves).backward();
    testing::with_penalty(test.plain, plain).backward();
    for (std::size_t i = 0; i < test.inputs.size(); ++i)
      expect_near(own.arrived(i), plain[i].grad(), 1e-3, test.name);
  }
}

TEST_F(KernelTest, AGradientPenaltyGoesThroughAttention) {
  const auto options = at::TensorOptions().device(gpu().device());
  const at::Tensor packed = at::randn({2, 64, 3, 2, 64}, options);
  const auto slope = [&](at::ScalarType type) {
    const at::Tensor x = packed.to(type).requires_grad_();
    testing::with_penalty([](const testing::Tensors& t) { return packed_causal_attention(t[0]); },
                          {x})
        .backward();
    return x.grad();
  };
  try {
    expect_near(slope(at::kBFloat16), slope(at::kDouble), 0.1, "attention");
  } catch (const c10::Error& error) {
    const std::string what = error.what_without_backtrace();
    ASSERT_NE(what.find("derivative for aten::_scaled_dot_product"), what.npos) << what;
    GTEST_SKIP() << "this build has no attention of its own, and ATen's has no second derivative";
  }
}

TEST_F(KernelTest, LinearCrossEntropyIsTheSameInAnyNumberOfPieces) {
  const auto options = at::TensorOptions().device(gpu().device());
  const at::Tensor hidden = at::randn({100, 32}, options).to(at::kBFloat16);
  const at::Tensor weight = at::randn({300, 32}, options).to(at::kBFloat16);
  const at::Tensor targets = at::randint(300, {100}, options.dtype(at::kLong));
  const at::Tensor scale = at::full({}, 0.01, options);
  const auto run = [&](std::int64_t piece_bytes) {
    at::Tensor h = hidden.clone().requires_grad_(), w = weight.clone().requires_grad_();
    const at::Tensor loss = linear_cross_entropy(h, w, targets, scale, piece_bytes);
    (loss * scale).backward();
    return std::vector<at::Tensor>{loss.detach(), h.grad(), w.grad()};
  };
  const at::Tensor h = hidden.to(at::kDouble).requires_grad_(),
                   w = weight.to(at::kDouble).requires_grad_();
  const at::Tensor exact = -at::log_softmax(h.mm(w.t()), -1).gather(1, targets.unsqueeze(1)).sum();
  (exact * scale.to(at::kDouble)).backward();
  for (const std::int64_t bytes : {1, 7000, 1 << 30}) {
    const auto own = run(bytes);
    expect_near(own[0], exact.detach(), 1e-2, "loss");
    expect_near(own[1], h.grad(), 2e-2, "of hidden");
    expect_near(own[2], w.grad(), 2e-2, "of weight");
  }
}

}  // namespace
}  // namespace lockstep
