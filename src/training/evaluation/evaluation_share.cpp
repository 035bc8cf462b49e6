// Evaluates the batches of a rank's share and downloads their records.
#include "training/evaluation/evaluation_share.h"

#include "backends/exception_text.h"
#include "backends/out_of_memory.h"
#include "core/base/clock.h"
#include "runtime/launch/watch/heartbeat.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

// The records of a batch, without its padding rows.
struct BatchRecords {
  std::unique_ptr<Download> values;  // f64, the records of all rows one after another
  std::vector<std::int64_t> lengths;
};

// real: the number of rows that are not padding; they come first.
BatchRecords evaluate_rows(Recipe& recipe, Model& model, Backend& backend,
                           const EvaluatorOptions& options, Batch host, std::int64_t real) {
  const Batch batch = upload_batch(backend, std::move(host));
  StepContext context = evaluation_context(backend, options);
  std::vector<at::Tensor> records = evaluated_rows(recipe, model, batch, context);
  records.resize(static_cast<std::size_t>(real));
  BatchRecords result;
  for (at::Tensor& record : records) {
    result.lengths.push_back(record.numel());
    record = record.reshape({-1}).to(backend.device(), at::kDouble);
  }
  result.values = backend.download(at::cat(records));
  return result;
}

// Records leave the device one batch later. So it holds the records of at most two batches.
OwnRecords evaluate_share(Recipe& recipe, Model& model, Loader& loader, Backend& backend,
                          const EvaluatorOptions& options, std::int64_t count) {
  OwnRecords own;
  std::vector<at::Tensor> values;
  std::unique_ptr<Download> under_way;
  const double begin_s = system_clock().now_s();
  double first_s = 0, batches = 0;
  for (std::int64_t done = 0; !loader.done(); done += options.batch) {
    beat();
    Batch host = std::move(loader.next().batches[0]);
    BatchRecords batch = evaluate_rows(recipe, model, backend, options, std::move(host),
                                       std::min(options.batch, count - done));
    own.lengths.insert(own.lengths.end(), batch.lengths.begin(), batch.lengths.end());
    if (under_way) values.push_back(under_way->get());
    under_way = std::move(batch.values);
    if (++batches == 1) first_s = system_clock().now_s() - begin_s;
    const std::int64_t evaluated = std::min(done + options.batch, count);
    if (options.goes_on && evaluated < count &&
        !options.goes_on(static_cast<double>(evaluated) / static_cast<double>(count)))
      return {.given_up = true};
  }
  values.push_back(under_way->get());
  own.values = at::cat(values);
  const double others = batches - 1;
  const double mean_s =
      others > 0 ? (system_clock().now_s() - begin_s - first_s) / others : first_s;
  own.warm_up_s = std::max(0.0, first_s - mean_s);
  return own;
}

}  // namespace

RowShare row_share(const ProcessGroup& group, std::int64_t count) {
  const std::int64_t per = (count + group.size() - 1) / group.size();
  const std::int64_t begin = std::min(per * group.rank(), count);
  return {.begin = begin, .end = std::min(begin + per, count)};
}

std::unique_ptr<Loader> load_rows(const Dataset& dataset, const RowShare& share, Backend& backend,
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

Batch upload_batch(Backend& backend, Batch host) {
  std::vector<at::Tensor> fields = std::move(host.tensors);
  fields.push_back(host.row_weight);
  fields = backend.upload(std::move(fields))->take();
  Batch batch{.row_weight = fields.back(),
              .first_global_row = host.first_global_row,
              .host_part = host.host_part};
  fields.pop_back();
  batch.tensors = std::move(fields);
  return batch;
}

StepContext evaluation_context(Backend& backend, const EvaluatorOptions& options) {
  StepContext context;
  context.training = false;
  context.compute_dtype = options.compute_dtype;
  context.device = backend.device();
  context.output = options.output;
  return context;
}

void try_alone(Backend& backend, OwnRecords& own, const std::function<void()>& work) {
  try {
    work();
    return;
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) {
      own.fault = std::current_exception();
      return;
    }
    own.out_of_memory = true;
    own.why = first_line_of(error);
  }
  backend.release_cached_memory();
}

OwnRecords evaluate_alone(Recipe& recipe, Model& model, const Dataset& dataset, Backend& backend,
                          const EvaluatorOptions& options, const RowShare& share) {
  OwnRecords own;
  if (share.begin == share.end) return own;
  try_alone(backend, own, [&] {
    const auto loader = load_rows(dataset, share, backend, options);
    own = evaluate_share(recipe, model, *loader, backend, options, share.end - share.begin);
  });
  return own;
}

}  // namespace lockstep
