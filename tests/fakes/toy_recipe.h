// A tiny regression with what makes exact data parallelism hard: rows of unequal weight, two loss
// terms that count different things, a parameter that some batches do not touch, a buffer.
#pragma once

#include "training/recipe/recipe.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>

#include <memory>
#include <vector>

namespace lockstep::testing {

class ToyModel : public Model {
 public:
  explicit ToyModel(std::uint64_t seed) {
    Random random(seed, RandomStream::init, 0, 0);
    const auto fresh = [&](std::vector<std::int64_t> sizes) {
      at::Tensor tensor = at::zeros(sizes);
      float* values = tensor.mutable_data_ptr<float>();
      for (std::int64_t i = 0; i < tensor.numel(); ++i)
        values[i] = static_cast<float>(0.3 * random.normal());
      return tensor.set_requires_grad(true);
    };
    first = fresh({16, 5});
    bias = fresh({16});
    second = fresh({3, 16});
    rare = fresh({3});
    unused = fresh({7});
    seen = at::zeros({1});
  }
  std::vector<Parameter> parameters() override {
    return {{"first.weight", first},
            {"first.bias", bias, false},
            {"second.weight", second},
            {"rare", rare, false},
            {"unused", unused, false}};
  }
  std::vector<NamedTensor> buffers() override { return {{"seen", seen}}; }

  at::Tensor first, bias, second, rare, unused, seen;
};

// Sample i: x [5], y [3], and how many of y's elements count (1 to 3), which differs by sample.
class ToyData : public Dataset {
 public:
  explicit ToyData(std::int64_t count) : count_(count) {}
  std::int64_t size() const override { return count_; }
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override {
    Random random(7, RandomStream::augment, static_cast<std::uint64_t>(index), 0);
    at::Tensor x = at::zeros({5}), y = at::zeros({3}), mask = at::zeros({3});
    for (int i = 0; i < 5; ++i) x[i] = random.normal();
    for (int i = 0; i < 3; ++i) y[i] = random.normal();
    for (int i = 0; i <= index % 3; ++i) mask[i] = 1;
    if (context.training) x[0] += 0.01 * context.random.normal();
    return {x, y, mask};
  }

 private:
  std::int64_t count_;
};

class ToyRecipe : public Recipe {
 public:
  explicit ToyRecipe(std::int64_t train = 50, std::int64_t valid = 11, double dropout = 0)
      : train_(train), valid_(valid), dropout_(dropout) {}
  std::unique_ptr<Model> build(std::uint64_t seed) override {
    return std::make_unique<ToyModel>(seed);
  }
  DatasetPair data() override {
    return {std::make_shared<ToyData>(train_), std::make_shared<ToyData>(valid_)};
  }
  std::vector<std::string> terms() const override { return {"elements", "rows"}; }
  std::vector<double> loss_weights(const Batch& batch) const override {
    const at::Tensor mask = batch.tensors[2] * batch.row_weight.unsqueeze(1);
    return {mask.sum().item<double>(), batch.row_weight.sum().item<double>()};
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    const at::Tensor error = predict_rows(model, batch, context) - batch.tensors[1];
    const at::Tensor mask = batch.tensors[2] * batch.row_weight.unsqueeze(1);
    const at::Tensor squares = (error.to(at::kFloat).square() * mask).sum();
    const at::Tensor rows = (error.to(at::kFloat).abs().sum(1) * batch.row_weight).sum();
    return {squares, rows * 0.1};
  }
  at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context) override {
    const at::Tensor error = predict_rows(model, batch, context) - batch.tensors[1];
    return error.to(at::kDouble).square().sum(1, /*keepdim=*/true);
  }
  std::vector<Metric> metrics(const Records& records) const override {
    return {{"squared_error", records.dense().mean().item<double>(), "", true},
            {"rows", static_cast<double>(records.size()), "", false}};
  }
  void predict(Model& model, const PredictRequest& request) override { request.out("toy\n"); }

 private:
  at::Tensor predict_rows(Model& model, const Batch& batch, StepContext& context) {
    auto& toy = dynamic_cast<ToyModel&>(model);
    const at::Tensor x = batch.tensors[0].to(context.compute_dtype);
    at::Tensor hidden = at::tanh(at::linear(x, toy.first, toy.bias));
    hidden = context.dropout(hidden, dropout_, 1);
    at::Tensor out = at::linear(hidden, toy.second);
    // Only some rows touch `rare`; a batch without such a row gives it no gradient at all.
    const at::Tensor touched = batch.tensors[0].select(1, 1).gt(1.2);
    if (touched.any().item<bool>())
      out = out + touched.unsqueeze(1).to(out.scalar_type()) * toy.rare;
    return out;
  }

  std::int64_t train_, valid_;
  double dropout_;
};

}  // namespace lockstep::testing
