// The toy regression with one fault against the contract of training/recipe/recipe.h, or with
// something unusual that is none, by name.
#pragma once

#include "fakes/toy_recipe.h"

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/rand.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::testing {

class ModeModel : public ToyModel {
 public:
  using ToyModel::ToyModel;
  void train(bool on) override { training = on; }
  bool training = true;
};

class ContractRecipe : public ToyRecipe {
 public:
  explicit ContractRecipe(std::string kind) : ToyRecipe(50, 11, 0.3), kind_(std::move(kind)) {}

  std::unique_ptr<Model> build(std::uint64_t seed) override {
    return std::make_unique<ModeModel>(seed);
  }

  std::vector<std::string> logged() const override { return {"weights"}; }

  std::vector<double> loss_weights(const Batch& batch) const override {
    std::vector<double> weights =
        ToyRecipe::loss_weights(is("padding_in_weight") ? all_rows(batch) : batch);
    if (is("one_weight")) weights.pop_back();
    if (is("random_weight")) weights[1] += at::rand({}).item<double>();
    if (is("unknown_weight")) weights[1] = NAN;
    if (is("regulariser") || is("sum_beside_weight")) weights[1] = 1;
    return weights;
  }

  std::vector<at::Tensor> loss(Model& model, const Batch& given, StepContext& context) override {
    auto& mode = dynamic_cast<ModeModel&>(model);
    Batch batch = is("padding_in_sum") ? all_rows(given) : given;
    mode.seen.add_(static_cast<double>(batch.size()));
    if (is("fixed_rows") && batch.size() != 2) throw std::runtime_error("two rows, please");
    if (is("memory")) TORCH_CHECK_WITH(OutOfMemoryError, false, "no memory, by request");
    at::Tensor& x = batch.tensors[0];
    if (is("batch_norm") || is("mean_batch_norm"))
      x = at::batch_norm(x, {}, {}, {}, {}, /*training=*/true, 0.1, 1e-5, false);
    if (is("torch_dropout") || is("mean_torch_dropout")) x = at::dropout(x, 0.5, mode.training);
    if (is("always_dropout")) x = at::dropout(x, 0.5, true);
    std::vector<at::Tensor> terms = ToyRecipe::loss(model, batch, context);
    if (is("mean") || is("mean_batch_norm") || is("mean_torch_dropout"))
      terms[0] = terms[0] / (batch.tensors[2] * batch.row_weight.unsqueeze(1)).sum();
    context.log("weights", mode.second.square().sum(), batch.row_weight.sum());
    if (is("batch_mean")) terms[1] = terms[1] / static_cast<double>(batch.size());
    if (is("one_term")) terms.pop_back();
    if (is("row_losses")) terms[1] = terms[1] * batch.row_weight;
    if (is("double")) terms[1] = terms[1].to(at::kDouble);
    if (is("not_finite")) terms[1] = terms[1] * NAN;
    if (is("regulariser")) terms[1] = mode.second.square().sum();
    if (is("contrastive")) {
      const at::Tensor alike = x.matmul(x.t());
      terms[1] = ((at::logsumexp(alike, 1) - alike.diagonal()) * batch.row_weight).sum();
    }
    return terms;
  }

  at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context) override {
    const at::Tensor records = ToyRecipe::evaluate(model, batch, context);
    if (is("flat_records")) return records.squeeze(1);
    if (is("one_record")) return records.mean(0, true);
    return records;
  }
  bool evaluates_pieces() const override { return is("pieces") || is("wrong_pieces"); }
  at::Tensor evaluate_piece(Model& model, const Batch& sample, ItemPiece piece,
                            StepContext& context) override {
    const at::Tensor bytes = ToyRecipe::evaluate(model, sample, context).view(at::kByte);
    return piece.index == 0 ? bytes : bytes.slice(1, 0, 0);
  }
  at::Tensor join_evaluated(const Batch&, const std::vector<at::Tensor>& pieces,
                            StepContext&) override {
    const at::Tensor record = pieces[0].view(at::kDouble);
    return is("wrong_pieces") ? record + 1 : record;
  }
  std::vector<Metric> metrics(const Records& records) const override {
    if (is("no_metrics")) return {};
    return ToyRecipe::metrics(records);
  }
  ItemTable items(const Records& records, EvaluationOutput& output) const override {
    ItemTable table{.columns = {"sample", "squared_error"}, .rows = {}};
    for (std::int64_t i = 0; i < records.size(); ++i)
      table.rows.push_back({i, records[i][0].item<double>()});
    if (is("bad_items")) table.columns.pop_back();
    output.picture("errors", "svg", "<svg/>");
    return table;
  }

 private:
  bool is(const char* kind) const { return kind_ == kind; }
  static Batch all_rows(Batch batch) {
    batch.row_weight = at::ones_like(batch.row_weight);
    return batch;
  }

  std::string kind_;
};

}  // namespace lockstep::testing
