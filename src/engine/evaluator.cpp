// Shards, evaluates and gathers.
#include "engine/evaluator.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "data/loader.h"
#include "engine/exception_text.h"
#include "engine/gather_on_host.h"
#include "engine/out_of_memory.h"
#include "launch/heartbeat.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace lockstep {
namespace {

// Of a rank, in rows: those of sample 0, then those of sample 1, …
struct Share {
  std::int64_t begin = 0, end = 0;  // its own
};

Share share_of(const ProcessGroup& group, std::int64_t count) {
  const std::int64_t per = (count + group.size() - 1) / group.size();
  const std::int64_t begin = std::min(per * group.rank(), count);
  return {.begin = begin, .end = std::min(begin + per, count)};
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

// What a batch's rows that are no padding gave.
struct BatchRecords {
  std::unique_ptr<Download> values;  // f64, of all rows one behind the other
  std::vector<std::int64_t> lengths;
};

// real: rows that are no padding, which stand first.
BatchRecords evaluate_rows(Recipe& recipe, Model& model, Backend& backend,
                           const EvaluatorOptions& options, Batch host, std::int64_t real) {
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
  context.output = options.output;
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

// What a rank has to show for its share.
struct OwnRecords {
  at::Tensor values = at::empty({0}, at::kDouble);  // of its samples, one behind the other
  std::vector<std::int64_t> lengths;                // of each of its samples
  bool out_of_memory = false;
  std::string why;  // what the lack of memory said, one line
  double warm_up_s = 0;
};

// Records leave the device one batch later, so that it never holds those of more than two.
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
  }
  values.push_back(under_way->get());
  own.values = at::cat(values);
  const double others = batches - 1;
  const double mean_s =
      others > 0 ? (system_clock().now_s() - begin_s - first_s) / others : first_s;
  own.warm_up_s = std::max(0.0, first_s - mean_s);
  return own;
}

OwnRecords try_share(Recipe& recipe, Model& model, const Dataset& dataset, Backend& backend,
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

// The lengths of the records of all samples, and behind them of each rank whether memory ran out.
struct Lengths {
  std::vector<std::int64_t> of_samples;
  std::vector<int> out_of_memory_ranks;
};

Lengths gather_lengths(const OwnRecords& own, const Share& share, std::int64_t count,
                       ProcessGroup& group) {
  at::Tensor numbers = at::zeros({count + group.size()}, at::kLong);
  auto* const first = numbers.mutable_data_ptr<std::int64_t>();
  std::copy(own.lengths.begin(), own.lengths.end(), first + share.begin);
  first[count + group.rank()] = own.out_of_memory ? 1 : 0;
  group.all_reduce_on_host(numbers)->wait();
  Lengths lengths{.of_samples = {first, first + count}};
  for (int rank = 0; rank < group.size(); ++rank)
    if (first[count + rank] > 0) lengths.out_of_memory_ranks.push_back(rank);
  return lengths;
}

Records gather_records(const OwnRecords& own, const Share& share,
                       const std::vector<std::int64_t>& lengths, ProcessGroup& group) {
  std::vector<std::int64_t> offsets{0};
  for (const std::int64_t length : lengths) offsets.push_back(offsets.back() + length);
  const std::int64_t begin = offsets[static_cast<std::size_t>(share.begin)];
  return {gather_on_host(own.values, begin, offsets.back(), group), std::move(offsets)};
}

// On rank 0: the files of all ranks, in the order of the samples, and the table of items.
void gather_output(const Recipe& recipe, const Records& records, ProcessGroup& group,
                   EvaluationOutput& output) {
  const std::vector<std::string> files = collect_on_host(output.packed(), group);
  if (group.rank() != 0) return;
  output.clear();
  for (const std::string& bytes : files) output.add_packed(bytes);
  make_items(recipe, records, output);
}

}  // namespace

void make_items(const Recipe& recipe, const Records& records, EvaluationOutput& output) {
  try {
    output.set_items(recipe.items(records, output));
  } catch (const std::exception& error) {
    output.problem(cat("the recipe could not make the table of items: ", first_line_of(error)));
  }
}

std::vector<at::Tensor> evaluated_rows(Recipe& recipe, Model& model, const Batch& batch,
                                       StepContext& context) {
  std::vector<at::Tensor> records = recipe.evaluate_items(model, batch, context);
  if (std::ssize(records) != batch.size())
    throw WrongRecords(cat("evaluate_items must return a record for each of the ", batch.size(),
                           " rows, but returned ", records.size()),
                       "a row without anything has an empty record");
  for (std::size_t row = 0; row < records.size(); ++row)
    if (!records[row].defined())
      throw WrongRecords(
          cat("evaluate_items must return a tensor for each row, but returned none for row ", row),
          "a row without anything has an empty record");
  return records;
}

Evaluation evaluate(Recipe& recipe, Model& model, const Dataset& dataset, ProcessGroup& group,
                    Backend& backend, const EvaluatorOptions& asked) {
  if (dataset.size() == 0) throw Error("the validation set is empty");
  const std::int64_t count = dataset.size() * dataset.rows_per_sample();
  const at::NoGradGuard no_grad;
  model.train(false);
  const Share share = share_of(group, count);
  EvaluatorOptions options = asked;
  Evaluation result;
  OwnRecords own;
  Lengths lengths;
  while (true) {
    if (options.output != nullptr) options.output->clear();
    own = try_share(recipe, model, dataset, backend, options, share);
    lengths = gather_lengths(own, share, count, group);
    const std::vector<int>& failed = lengths.out_of_memory_ranks;
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
  const Records records = gather_records(own, share, lengths.of_samples, group);
  own = {};
  result.metrics = recipe.metrics(records);
  if (result.metrics.empty()) throw Error("the recipe returned no metrics");
  if (options.output != nullptr) gather_output(recipe, records, group, *options.output);
  return result;
}

}  // namespace lockstep
