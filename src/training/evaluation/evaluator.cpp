// All ranks evaluate their shares, gather the records, and compute the metrics.
#include "training/evaluation/evaluator.h"

#include "backends/exception_text.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "training/distributed/first_failure.h"
#include "training/distributed/gather_on_host.h"
#include "training/evaluation/evaluation_share.h"
#include "training/evaluation/shared_sample.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace lockstep {
namespace {

// How a rank finished its share.
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

// The lengths of the records of all samples, and how the ranks finished.
struct Lengths {
  std::vector<std::int64_t> of_samples;
  std::vector<int> out_of_memory_ranks;
  bool given_up = false;
  // failed: whether any rank failed. only_errors: whether all failures were an Error.
  bool failed = false, only_errors = true;
};

Lengths gather_lengths(const OwnRecords& own, const RowShare& share, std::int64_t count,
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

// All ranks must call this together.
[[noreturn]] void fail_together(const std::exception_ptr& own, bool only_errors,
                                ProcessGroup& group) {
  const auto [what, hint] = first_failure(group, "evaluation failed", own);
  if (only_errors) throw EvaluationFailed(what, hint);
  throw Error(what, hint);
}

// After memory ran out, evaluates fewer samples at once. If the batch has only one sample, frees
// other memory, or throws Error if there is none to free. why: the error message on this rank.
void take_less_memory(EvaluatorOptions& options, int first_rank, const std::string& why,
                      ProcessGroup& group) {
  if (options.batch > 1) {
    options.batch = options.batch / 2;
    return;
  }
  if (!options.free_memory)
    throw Error(cat("out of memory on rank ", first_rank, " in evaluation of one sample at once: ",
                    first_text(group, "out of memory in evaluation", why)),
                "evaluate on devices with more memory");
  std::exchange(options.free_memory, nullptr)();
}

Records gather_records(const OwnRecords& own, const RowShare& share,
                       const std::vector<std::int64_t>& lengths, ProcessGroup& group) {
  std::vector<std::int64_t> offsets{0};
  for (const std::int64_t length : lengths) offsets.push_back(offsets.back() + length);
  const std::int64_t begin = offsets[static_cast<std::size_t>(share.begin)];
  return {gather_on_host(own.values, begin, offsets.back(), group), std::move(offsets)};
}

// On rank 0: gathers the files of all ranks in the order of the samples, and makes the table of
// items.
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
  const RowShare share = shares ? shared.share() : row_share(group, count);
  EvaluatorOptions options = asked;
  if (shares) options.batch = 1;
  Evaluation result;
  OwnRecords own;
  Lengths lengths;
  while (true) {
    if (options.output != nullptr) options.output->clear();
    own = shares ? evaluate_shared(recipe, model, dataset, group, backend, options, shared)
                 : evaluate_alone(recipe, model, dataset, backend, options, share);
    lengths = gather_lengths(own, share, count, group);
    if (lengths.failed) fail_together(own.fault, lengths.only_errors, group);
    const std::vector<int>& failed = lengths.out_of_memory_ranks;
    if (failed.empty() || lengths.given_up) break;
    result.out_of_memory_ranks = failed;
    const std::string why = std::exchange(own, {}).why;  // frees the records before memory is freed
    take_less_memory(options, failed[0], why, group);
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
