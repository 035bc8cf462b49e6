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
#include <exception>
#include <functional>
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

Batch uploaded(Backend& backend, Batch host) {
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

StepContext context_of(Backend& backend, const EvaluatorOptions& options) {
  StepContext context;
  context.training = false;
  context.compute_dtype = options.compute_dtype;
  context.device = backend.device();
  context.output = options.output;
  return context;
}

// real: rows that are no padding, which stand first.
BatchRecords evaluate_rows(Recipe& recipe, Model& model, Backend& backend,
                           const EvaluatorOptions& options, Batch host, std::int64_t real) {
  const Batch batch = uploaded(backend, std::move(host));
  StepContext context = context_of(backend, options);
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
  bool out_of_memory = false, given_up = false;
  std::string why;             // what the lack of memory said, one line
  std::exception_ptr fault{};  // any other
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

// Runs `work`, which may fail on this rank alone; what it said is in `own` then.
void try_work(Backend& backend, OwnRecords& own, const std::function<void()>& work) {
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

OwnRecords try_share(Recipe& recipe, Model& model, const Dataset& dataset, Backend& backend,
                     const EvaluatorOptions& options, const Share& share) {
  OwnRecords own;
  if (share.begin == share.end) return own;
  try_work(backend, own, [&] {
    const auto loader = load_share(dataset, share, backend, options);
    own = evaluate_share(recipe, model, *loader, backend, options, share.end - share.begin);
  });
  return own;
}

// Ranks [sample * ranks / samples, …) share a sample; the first of them joins its pieces.
struct SharedSample {
  std::int64_t sample = 0;
  int first_rank = 0;
  ItemPiece piece;
  Share share() const { return {.begin = sample + (piece.index > 0 ? 1 : 0), .end = sample + 1}; }
};

SharedSample shared_sample(const ProcessGroup& group, std::int64_t count) {
  const std::int64_t ranks = group.size(), sample = group.rank() * count / ranks;
  const auto first_of = [&](std::int64_t one) { return (one * ranks + count - 1) / count; };
  const std::int64_t first = first_of(sample);
  return {.sample = sample,
          .first_rank = static_cast<int>(first),
          .piece = {.index = group.rank() - first, .count = first_of(sample + 1) - first}};
}

// Of all ranks, u8 [any] each, on the hosts; nothing where one could not make its own, which is
// undefined. They travel as words of 8 bytes.
std::vector<at::Tensor> gather_pieces(const at::Tensor& own, ProcessGroup& group) {
  constexpr std::int64_t word = 8;
  at::Tensor sizes = at::zeros({group.size()}, at::kLong);
  auto* const size = sizes.mutable_data_ptr<std::int64_t>();
  size[group.rank()] = own.defined() ? own.numel() : -1;
  group.all_reduce_on_host(sizes)->wait();
  if (std::any_of(size, size + group.size(), [](std::int64_t one) { return one < 0; })) return {};
  std::vector<std::int64_t> begins{0};
  for (int rank = 0; rank < group.size(); ++rank)
    begins.push_back(begins.back() + (size[rank] + word - 1) / word);
  const auto at_rank = [&](int rank) { return begins[static_cast<std::size_t>(rank)]; };
  at::Tensor words = at::zeros({at_rank(group.rank() + 1) - at_rank(group.rank())}, at::kLong);
  words.view(at::kByte).narrow(0, 0, own.numel()).copy_(own);
  const at::Tensor all =
      gather_on_host(words, at_rank(group.rank()), begins.back(), group).view(at::kByte);
  std::vector<at::Tensor> pieces;
  for (int rank = 0; rank < group.size(); ++rank)
    pieces.push_back(all.narrow(0, at_rank(rank) * word, size[rank]));
  return pieces;
}

at::Tensor checked_piece(const at::Tensor& piece) {
  if (!piece.defined() || piece.scalar_type() != at::kByte)
    throw WrongRecords("evaluate_piece must return a tensor of u8",
                       "a piece without anything is an empty one");
  return piece.reshape({-1}).cpu();
}

// For fewer samples than ranks: each rank makes a piece of one.
OwnRecords evaluate_shared(Recipe& recipe, Model& model, const Dataset& dataset,
                           ProcessGroup& group, Backend& backend, const EvaluatorOptions& options,
                           const SharedSample& shared) {
  OwnRecords own;
  Batch batch;
  StepContext context = context_of(backend, options);
  at::Tensor piece;
  try_work(backend, own, [&] {
    const Share one{.begin = shared.sample, .end = shared.sample + 1};
    const auto loader = load_share(dataset, one, backend, options);
    batch = uploaded(backend, std::move(loader->next().batches[0]));
    piece = checked_piece(recipe.evaluate_piece(model, batch, shared.piece, context));
  });
  beat();
  std::vector<at::Tensor> pieces = gather_pieces(piece, group);
  if (pieces.empty() || shared.piece.index > 0) return own;
  pieces = {pieces.begin() + shared.first_rank,
            pieces.begin() + shared.first_rank + shared.piece.count};
  try_work(backend, own, [&] {
    const at::Tensor record = recipe.join_evaluated(batch, pieces, context);
    own.values = record.reshape({-1}).to(at::kCPU, at::kDouble);
    own.lengths = {own.values.numel()};
  });
  return own;
}

// How a rank ended its share.
enum class ShareEnd : std::int64_t { whole, out_of_memory, given_up, error, exception };

ShareEnd end_of(const OwnRecords& own) {
  if (own.out_of_memory) return ShareEnd::out_of_memory;
  if (!own.fault) return own.given_up ? ShareEnd::given_up : ShareEnd::whole;
  try {
    std::rethrow_exception(own.fault);
  } catch (const Error&) {
    return ShareEnd::error;
  } catch (...) {
    return ShareEnd::exception;
  }
}

// The lengths of the records of all samples, and how the ranks ended.
struct Lengths {
  std::vector<std::int64_t> of_samples;
  std::vector<int> out_of_memory_ranks;
  bool given_up = false;
  bool failed = false, only_errors = true;  // on any rank; by Error alone
};

Lengths gather_lengths(const OwnRecords& own, const Share& share, std::int64_t count,
                       ProcessGroup& group) {
  at::Tensor numbers = at::zeros({count + group.size()}, at::kLong);
  auto* const first = numbers.mutable_data_ptr<std::int64_t>();
  std::copy(own.lengths.begin(), own.lengths.end(), first + share.begin);
  first[count + group.rank()] = static_cast<std::int64_t>(end_of(own));
  group.all_reduce_on_host(numbers)->wait();
  Lengths lengths{.of_samples = {first, first + count}};
  for (int rank = 0; rank < group.size(); ++rank) {
    const auto end = static_cast<ShareEnd>(first[count + rank]);
    if (end == ShareEnd::out_of_memory) lengths.out_of_memory_ranks.push_back(rank);
    lengths.given_up |= end == ShareEnd::given_up;
    lengths.failed |= end == ShareEnd::error || end == ShareEnd::exception;
    lengths.only_errors &= end != ShareEnd::exception;
  }
  return lengths;
}

// All ranks come here together.
[[noreturn]] void fail_together(const std::exception_ptr& own, bool only_errors,
                                ProcessGroup& group) {
  const auto [what, hint] = first_failure(group, "evaluation failed", own);
  if (only_errors) throw EvaluationFailed(what, hint);
  throw Error(what, hint);
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
  const bool shares =
      count < group.size() && dataset.rows_per_sample() == 1 && recipe.evaluates_pieces();
  const SharedSample shared = shares ? shared_sample(group, count) : SharedSample{};
  const Share share = shares ? shared.share() : share_of(group, count);
  EvaluatorOptions options = asked;
  if (shares) options.batch = 1;
  Evaluation result;
  OwnRecords own;
  Lengths lengths;
  while (true) {
    if (options.output != nullptr) options.output->clear();
    own = shares ? evaluate_shared(recipe, model, dataset, group, backend, options, shared)
                 : try_share(recipe, model, dataset, backend, options, share);
    lengths = gather_lengths(own, share, count, group);
    if (lengths.failed) fail_together(own.fault, lengths.only_errors, group);
    const std::vector<int>& failed = lengths.out_of_memory_ranks;
    if (failed.empty() || lengths.given_up) break;
    result.out_of_memory_ranks = failed;
    const std::string why = std::exchange(own, {}).why;
    if (options.batch == 1 && options.free_memory) {
      std::exchange(options.free_memory, nullptr)();
      continue;
    }
    if (options.batch == 1)
      throw Error(cat("out of memory on rank ", failed[0], " in evaluation of one sample at once: ",
                      first_text(group, "out of memory in evaluation", why)),
                  "evaluate on devices with more memory");
    options.batch = options.batch / 2;
  }
  model.train(true);
  result.batch = options.batch;
  result.warm_up_s = own.warm_up_s;
  if (lengths.given_up) {
    result.given_up = true;
    return result;
  }
  const Records records = gather_records(own, share, lengths.of_samples, group);
  own = {};
  result.metrics = recipe.metrics(records);
  if (result.metrics.empty()) throw Error("the recipe returned no metrics");
  if (options.output != nullptr) gather_output(recipe, records, group, *options.output);
  return result;
}

}  // namespace lockstep
