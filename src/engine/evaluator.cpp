// Shards, judges and gathers.
#include "engine/evaluator.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "data/loader.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

std::vector<Row> rows_of(std::int64_t begin, std::int64_t end, std::int64_t batch) {
  std::vector<Row> rows;
  for (std::int64_t i = begin; i < begin + batch; ++i)
    rows.push_back({.place = i, .sample = i < end ? i : -1});
  return rows;
}

// f64 [batch, R] on the device.
at::Tensor judge_rows(Recipe& recipe, Model& model, const Dataset& dataset, Backend& backend,
                      const EvaluatorOptions& options, const std::vector<Row>& rows) {
  Batch host = make_batch(dataset, rows, options.seed, 0, /*training=*/false);
  std::vector<at::Tensor> fields = std::move(host.tensors);
  fields.push_back(host.row_weight);
  fields = backend.upload(std::move(fields))->take();
  Batch batch{.row_weight = fields.back(), .first_place = rows[0].place};
  fields.pop_back();
  batch.tensors = std::move(fields);
  StepContext context;
  context.training = false;
  context.compute_dtype = options.compute_dtype;
  context.device = backend.device();
  at::Tensor records = recipe.judge(model, batch, context);
  if (records.dim() != 2 || records.size(0) != static_cast<std::int64_t>(rows.size()))
    throw Error(cat("judge must return one record a row: [", rows.size(), ", R], but returned ",
                    records.sizes()));
  return records.to(at::kDouble);
}

}  // namespace

Evaluation evaluate(Recipe& recipe, Model& model, const Dataset& dataset, ProcessGroup& group,
                    Backend& backend, const EvaluatorOptions& options) {
  const std::int64_t count = dataset.size();
  if (count == 0) throw Error("the validation set is empty");
  const at::NoGradGuard no_grad;
  model.train(false);
  const std::int64_t share = (count + group.size() - 1) / group.size();
  const std::int64_t begin = std::min(share * group.rank(), count);
  const std::int64_t end = std::min(begin + share, count);
  std::vector<at::Tensor> own;
  const double begin_s = system_clock().now_s();
  double first_s = 0;
  for (std::int64_t i = begin; i < begin + share; i += options.batch) {
    own.push_back(
        judge_rows(recipe, model, dataset, backend, options, rows_of(i, end, options.batch)));
    if (own.size() == 1) first_s = system_clock().now_s() - begin_s;
  }
  const double others = static_cast<double>(own.size() - 1);
  const double mean_s =
      others > 0 ? (system_clock().now_s() - begin_s - first_s) / others : first_s;
  const at::Tensor all = group.all_gather(at::cat(own).narrow(0, 0, share).contiguous());
  model.train(true);
  const at::Tensor host = backend.download(all)->get();
  // Rank r holds min(share, what is left) real rows.
  const at::Tensor records = host.view({-1, host.size(2)}).narrow(0, 0, count);
  Evaluation result{.metrics = recipe.metrics(records),
                    .warm_up_s = std::max(0.0, first_s - mean_s)};
  if (result.metrics.empty()) throw Error("the recipe returned no metrics");
  return result;
}

}  // namespace lockstep
