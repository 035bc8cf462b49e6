// A regression whose samples are several rows and whose rows differ in length: fields that are
// ragged, padded, and on the host alone.
#pragma once

#include "core/base/check.h"
#include "fakes/toy_recipe.h"
#include "training/data/collate.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>

#include <memory>
#include <string>
#include <vector>

namespace lockstep::testing {

// Row (i, part): x of 1 to 4 times 5 values, y [3]; on the host, which sample and part it is.
class SpreadData : public Dataset {
 public:
  SpreadData(std::int64_t count, std::int64_t parts) : count_(count), parts_(parts) {}
  std::int64_t size() const override { return count_; }
  std::int64_t rows_per_sample() const override { return parts_; }
  std::int64_t length(std::int64_t index) const override { return 1 + index % 4; }
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override {
    Random random(7, RandomStream::augment, static_cast<std::uint64_t>(index),
                  static_cast<std::uint64_t>(context.part));
    at::Tensor x = at::zeros({1 + (index + context.part) % 4, 5}), y = at::zeros({3});
    for (std::int64_t i = 0; i < x.numel(); ++i)
      x.mutable_data_ptr<float>()[i] = static_cast<float>(random.normal());
    for (int i = 0; i < 3; ++i) y[i] = random.normal();
    if (context.training) x[0][0] += 0.01 * context.random.normal();
    return {x, y, at::full({1}, index * parts_ + context.part, at::kLong)};
  }
  std::vector<at::Tensor> collate(const std::vector<std::vector<at::Tensor>>& rows) const override {
    const Ragged x = ragged(column(rows, 0));
    return {pad(column(rows, 2)), x.values, x.offsets, pad(column(rows, 1))};
  }
  std::vector<FieldPlace> fields() const override {
    return {FieldPlace::host, FieldPlace::device, FieldPlace::device, FieldPlace::device};
  }

 private:
  std::int64_t count_, parts_;
};

class SpreadRecipe : public ToyRecipe {
 public:
  SpreadRecipe(std::int64_t samples, std::int64_t parts) : samples_(samples), parts_(parts) {}
  DatasetPair data() override {
    return {std::make_shared<SpreadData>(samples_, parts_),
            std::make_shared<SpreadData>(samples_, parts_)};
  }
  std::vector<std::string> terms() const override { return {"values", "rows"}; }
  std::vector<double> loss_weights(const Batch& batch) const override {
    return {weight_of_values(batch).sum().item<double>(), batch.row_weight.sum().item<double>()};
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    const at::Tensor out = out_of(model, batch, context);
    const at::Tensor rows = sums(batch, out) - batch.tensors[2];
    if (reads_host) seen_ = batch.host().at(0).sum().item<std::int64_t>();
    return {(out.square().sum(1) * weight_of_values(batch)).sum(),
            (rows.abs().sum(1) * batch.row_weight).sum() * 0.1};
  }
  at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context) override {
    const at::Tensor rows = sums(batch, out_of(model, batch, context)) - batch.tensors[2];
    at::Tensor records = at::zeros({batch.size(), 2}, at::kDouble);
    records.select(1, 0).copy_(rows.square().sum(1));
    records.select(1, 1).copy_(batch.host().at(0).select(1, 0));
    for (std::int64_t i = 0; i < batch.size(); ++i)
      if (const std::int64_t sample = batch.samples().at(static_cast<std::size_t>(i)); sample >= 0)
        LOCKSTEP_CHECK(sample == batch.host()[0][i][0].item<std::int64_t>() / parts_);
    return records;
  }
  std::vector<Metric> metrics(const Records& all) const override {
    const at::Tensor records = all.dense();
    const at::Tensor order = at::arange(records.size(0), at::kDouble);
    return {{"error", records.select(1, 0).sum().item<double>()},
            {"rows", static_cast<double>(records.size(0))},
            {"in_order", records.select(1, 1).equal(order) ? 1.0 : 0.0}};
  }
  bool reads_host = false;

 private:
  static at::Tensor weight_of_values(const Batch& batch) {
    const at::Tensor rows = row_of_values(batch.tensors[1], batch.tensors[0].size(0));
    return batch.row_weight.index_select(0, rows);
  }
  static at::Tensor out_of(Model& model, const Batch& batch, StepContext& context) {
    auto& toy = dynamic_cast<ToyModel&>(model);
    return at::linear(at::tanh(at::linear(batch.tensors[0], toy.first, toy.bias)), toy.second);
  }
  // [B, 3]
  static at::Tensor sums(const Batch& batch, const at::Tensor& out) {
    const at::Tensor rows = row_of_values(batch.tensors[1], out.size(0));
    return at::zeros({batch.size(), 3}).index_add(0, rows, out);
  }

  std::int64_t samples_, parts_, seen_ = 0;
};

}  // namespace lockstep::testing
