// Shards, evaluates and gathers.
#include "engine/evaluator.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "data/loader.h"
#include "engine/exception_text.h"
#include "engine/out_of_memory.h"
#include "launch/heartbeat.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

std::vector<Row> rows_of(std::int64_t begin, std::int64_t end, std::int64_t batch) {
  std::vector<Row> rows;
  for (std::int64_t i = begin; i < begin + batch; ++i)
    rows.push_back({.global_row = i, .sample = i < end ? i : -1});
  return rows;
}

// f64 [batch, R] on the device.
at::Tensor evaluate_rows(Recipe& recipe, Model& model, const Dataset& dataset, Backend& backend,
                         const EvaluatorOptions& options, const std::vector<Row>& rows) {
  Batch host = make_batch(dataset, rows, options.seed, 0, /*training=*/false);
  std::vector<at::Tensor> fields = std::move(host.tensors);
  fields.push_back(host.row_weight);
  fields = backend.upload(std::move(fields))->take();
  Batch batch{.row_weight = fields.back(), .first_global_row = rows[0].global_row};
  fields.pop_back();
  batch.tensors = std::move(fields);
  StepContext context;
  context.training = false;
  context.compute_dtype = options.compute_dtype;
  context.device = backend.device();
  at::Tensor records = recipe.evaluate(model, batch, context);
  if (records.dim() != 2 || records.size(0) != static_cast<std::int64_t>(rows.size()))
    throw Error(cat("evaluate must return one record a row: [", rows.size(), ", R], but returned ",
                    records.sizes()));
  return records.to(at::kDouble);
}

// Samples [begin, end) of a rank, whose share is padded to `share`.
struct Share {
  std::int64_t begin, end, share;
};

// f64 [share, R] on the device; undefined where memory ran out, and then `why` is what that said.
at::Tensor evaluate_share(Recipe& recipe, Model& model, const Dataset& dataset, Backend& backend,
                          const EvaluatorOptions& options, const Share& range, double& warm_up_s,
                          std::string& why) {
  std::vector<at::Tensor> own;
  const double begin_s = system_clock().now_s();
  double first_s = 0;
  try {
    for (std::int64_t i = range.begin; i < range.begin + range.share; i += options.batch) {
      beat();
      const auto rows = rows_of(i, range.end, options.batch);
      own.push_back(evaluate_rows(recipe, model, dataset, backend, options, rows));
      if (own.size() == 1) first_s = system_clock().now_s() - begin_s;
    }
    const double others = static_cast<double>(own.size() - 1);
    const double mean_s =
        others > 0 ? (system_clock().now_s() - begin_s - first_s) / others : first_s;
    warm_up_s = std::max(0.0, first_s - mean_s);
    return at::cat(own).narrow(0, 0, range.share).contiguous();
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
    why = first_line_of(error);
  }
  own.clear();
  backend.release_cached_memory();
  return {};
}

// The ranks that say so.
std::vector<int> ranks_that(bool own, ProcessGroup& group, Backend& backend) {
  const auto f64 = at::TensorOptions().dtype(at::kDouble);
  at::Tensor said = at::zeros({group.size()}, f64.device(backend.device()));
  if (own) said[group.rank()] = 1.0;
  group.all_reduce(said)->wait();
  const at::Tensor host = backend.download(said)->get();
  std::vector<int> ranks;
  for (int rank = 0; rank < group.size(); ++rank)
    if (host.const_data_ptr<double>()[rank] > 0) ranks.push_back(rank);
  return ranks;
}

}  // namespace

Evaluation evaluate(Recipe& recipe, Model& model, const Dataset& dataset, ProcessGroup& group,
                    Backend& backend, const EvaluatorOptions& asked) {
  const std::int64_t count = dataset.size();
  if (count == 0) throw Error("the validation set is empty");
  const at::NoGradGuard no_grad;
  model.train(false);
  Share range{.begin = 0, .end = 0, .share = (count + group.size() - 1) / group.size()};
  range.begin = std::min(range.share * group.rank(), count);
  range.end = std::min(range.begin + range.share, count);
  EvaluatorOptions options = asked;
  Evaluation result;
  at::Tensor own;
  std::string why;
  while (true) {
    own = evaluate_share(recipe, model, dataset, backend, options, range, result.warm_up_s, why);
    const std::vector<int> failed = ranks_that(!own.defined(), group, backend);
    if (failed.empty()) break;
    result.out_of_memory_ranks = failed;
    own.reset();
    if (options.batch == 1)
      throw Error(cat("out of memory on rank ", failed[0], " in evaluation of one sample at once: ",
                      first_text(group, "out of memory in evaluation", why)),
                  "evaluate on devices with more memory");
    options.batch = options.batch / 2;
  }
  result.batch = options.batch;
  const at::Tensor all = group.all_gather(own);
  model.train(true);
  const at::Tensor host = backend.download(all)->get();
  // Rank r holds min(share, what is left) real rows.
  const at::Tensor records = host.view({-1, host.size(2)}).narrow(0, 0, count);
  result.metrics = recipe.metrics(records);
  if (result.metrics.empty()) throw Error("the recipe returned no metrics");
  return result;
}

}  // namespace lockstep
