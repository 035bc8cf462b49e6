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
#include <memory>
#include <utility>

namespace lockstep {
namespace {

// Of a rank, in rows: those of sample 0, then those of sample 1, …
struct Share {
  std::int64_t begin = 0, end = 0;  // its own
  std::int64_t rows = 0;            // of every rank: that many, padded
};

Share share_of(const ProcessGroup& group, std::int64_t count) {
  Share share{.rows = (count + group.size() - 1) / group.size()};
  share.begin = std::min(share.rows * group.rank(), count);
  share.end = std::min(share.begin + share.rows, count);
  return share;
}

// A step is a batch. Rows behind the share's end are copies of those before, which nothing reads.
std::unique_ptr<Loader> load_share(const Dataset& dataset, const Share& share, Backend& backend,
                                   const EvaluatorOptions& options) {
  const std::int64_t batch = options.batch;
  LoaderOptions loading{
      .seed = options.seed,
      .batch = {.world_size = 1, .micro = batch, .accumulation = 1, .global = batch},
      .last_step = (share.end - share.begin + batch - 1) / batch,
      .threads = options.threads,
      .prefetch_steps = options.prefetch,
      .pin = pin_for(backend),
      .training = false};
  const std::int64_t parts = dataset.rows_per_sample();
  loading.row_of = [share, batch, parts](std::int64_t step, std::int64_t place) {
    const std::int64_t row = share.begin + step * batch + place;
    return Row{
        .global_row = row, .sample = row < share.end ? row / parts : -1, .part = row % parts};
  };
  // The caller's dataset outlives the loader.
  const std::shared_ptr<const Dataset> not_owned(std::shared_ptr<void>(), &dataset);
  return std::make_unique<Loader>(not_owned, std::move(loading));
}

// f64 [batch, R] on the device.
at::Tensor evaluate_rows(Recipe& recipe, Model& model, Backend& backend,
                         const EvaluatorOptions& options, Batch host) {
  std::vector<at::Tensor> fields = std::move(host.tensors);
  fields.push_back(host.row_weight);
  fields = backend.upload(std::move(fields))->take();
  Batch batch{.row_weight = fields.back(),
              .first_global_row = host.first_global_row,
              .host_part = host.host_part};
  fields.pop_back();
  batch.tensors = std::move(fields);
  StepContext context;
  context.training = false;
  context.compute_dtype = options.compute_dtype;
  context.device = backend.device();
  at::Tensor records = recipe.evaluate(model, batch, context);
  if (records.dim() != 2 || records.size(0) != host.size() || records.size(1) == 0)
    throw Error(cat("evaluate must return one record per row: [", host.size(),
                    ", R], but returned ", records.sizes()));
  return records.to(at::kDouble);
}

// What a rank has to show for its share.
struct Records {
  at::Tensor rows;  // f64 [end - begin, R] on the device; undefined where there are none
  bool out_of_memory = false;
  std::string why;  // what the lack of memory said, one line
  double warm_up_s = 0;
};

Records evaluate_share(Recipe& recipe, Model& model, Loader& loader, Backend& backend,
                       const EvaluatorOptions& options, std::int64_t count) {
  std::vector<at::Tensor> own;
  const double begin_s = system_clock().now_s();
  double first_s = 0;
  while (!loader.done()) {
    beat();
    own.push_back(
        evaluate_rows(recipe, model, backend, options, std::move(loader.next().batches[0])));
    if (own.size() == 1) first_s = system_clock().now_s() - begin_s;
  }
  const double others = static_cast<double>(own.size() - 1);
  const double mean_s =
      others > 0 ? (system_clock().now_s() - begin_s - first_s) / others : first_s;
  return {.rows = at::cat(own).narrow(0, 0, count), .warm_up_s = std::max(0.0, first_s - mean_s)};
}

Records try_share(Recipe& recipe, Model& model, const Dataset& dataset, Backend& backend,
                  const EvaluatorOptions& options, const Share& share) {
  if (share.begin == share.end) return {};
  std::string why;
  try {
    const auto loader = load_share(dataset, share, backend, options);
    return evaluate_share(recipe, model, *loader, backend, options, share.end - share.begin);
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
    why = first_line_of(error);
  }
  backend.release_cached_memory();
  return {.out_of_memory = true, .why = why};
}

// Of each rank: R of its records, 0 where it has no samples, -1 where memory ran out.
std::vector<std::int64_t> widths_of_ranks(const Records& own, ProcessGroup& group,
                                          Backend& backend) {
  const auto f64 = at::TensorOptions().dtype(at::kDouble);
  at::Tensor widths = at::zeros({group.size()}, f64.device(backend.device()));
  if (own.rows.defined()) widths[group.rank()] = static_cast<double>(own.rows.size(1));
  if (own.out_of_memory) widths[group.rank()] = -1.0;
  group.all_reduce(widths)->wait();
  const at::Tensor host = backend.download(widths)->get();
  const auto* const first = host.const_data_ptr<double>();
  return {first, first + group.size()};
}

// f64 [N, R] on the CPU, from the records of every rank.
at::Tensor gather(const at::Tensor& own, const Share& share, std::int64_t width, std::int64_t count,
                  ProcessGroup& group, Backend& backend) {
  const auto f64 = at::TensorOptions().dtype(at::kDouble);
  at::Tensor padded = at::zeros({share.rows, width}, f64.device(backend.device()));
  if (own.defined()) padded.narrow(0, 0, own.size(0)).copy_(own);
  const at::Tensor all = backend.download(group.all_gather(padded))->get();
  return all.view({-1, width}).narrow(0, 0, count);
}

}  // namespace

Evaluation evaluate(Recipe& recipe, Model& model, const Dataset& dataset, ProcessGroup& group,
                    Backend& backend, const EvaluatorOptions& asked) {
  if (dataset.size() == 0) throw Error("the validation set is empty");
  const std::int64_t count = dataset.size() * dataset.rows_per_sample();
  const at::NoGradGuard no_grad;
  model.train(false);
  const Share share = share_of(group, count);
  EvaluatorOptions options = asked;
  Evaluation result;
  Records own;
  std::vector<std::int64_t> widths;
  while (true) {
    own = try_share(recipe, model, dataset, backend, options, share);
    widths = widths_of_ranks(own, group, backend);
    std::vector<int> failed;
    for (int rank = 0; rank < group.size(); ++rank)
      if (widths[static_cast<std::size_t>(rank)] < 0) failed.push_back(rank);
    if (failed.empty()) break;
    result.out_of_memory_ranks = failed;
    if (options.batch == 1)
      throw Error(cat("out of memory on rank ", failed[0], " in evaluation of one sample at once: ",
                      first_text(group, "out of memory in evaluation", own.why)),
                  "evaluate on devices with more memory");
    own = {};
    options.batch = options.batch / 2;
  }
  model.train(true);
  result.batch = options.batch;
  result.warm_up_s = own.warm_up_s;
  const std::int64_t width = *std::max_element(widths.begin(), widths.end());
  for (const std::int64_t other : widths)
    if (other > 0 && other != width)
      throw Error(cat("evaluate must return records of one width, but returned ", other, " and ",
                      width, " numbers a row on different ranks"));
  const at::Tensor records = gather(own.rows, share, width, count, group, backend);
  result.metrics = recipe.metrics(records);
  if (result.metrics.empty()) throw Error("the recipe returned no metrics");
  return result;
}

}  // namespace lockstep
