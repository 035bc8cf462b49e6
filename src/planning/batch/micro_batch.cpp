#include "planning/batch/micro_batch.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "planning/batch/norm_rows.h"
#include "planning/memory/memory.h"
#include "planning/options/batch_options.h"
#include "planning/words.h"

#include <algorithm>

namespace lockstep {
namespace {

void check_fixed_part_fits(const MemoryEstimate& memory, const std::vector<Device>& devices) {
  const auto tightest = tightest_device(devices);
  if (!tightest) return;
  const Device& device = devices[tightest->rank];
  const double present = static_cast<double>(device.memory_bytes);
  if (memory.fixed_bytes <= present) return;
  const bool gpu = device.kind == DeviceKind::cuda;
  throw Error(cat("the model with its gradients and optimizer state needs ",
                  format_bytes(memory.fixed_bytes), ", but ", device_label(device),
                  device.name.empty() ? "" : cat(" (", device.name, ")"), " has ",
                  format_bytes(present), gpu ? "" : " (its share of the host's memory)"),
              gpu ? "choose a smaller model, or a device with more memory"
                  : "choose a smaller model, fewer CPU ranks, or a machine with more memory");
}

// Adds the flat buffers of exact sums, which a rank needs for any micro-batch.
MemoryEstimate with_exact_buffers(MemoryEstimate memory, const Facts& facts, std::int64_t buffers) {
  memory.fixed_bytes += 4.0 * static_cast<double>(buffers * facts.parameters);
  return memory;
}

// The number of buffers depends on the micro-batch, which is not known yet.
constexpr std::int64_t usual_exact_buffers = 3;

std::int64_t limit_of(const TrainOptions& options, const Facts& facts, const MemoryEstimate& memory,
                      const std::vector<Device>& devices, std::int64_t shrunk_to) {
  if (memory.tried_micro > 0) return memory.tried_micro;
  std::int64_t limit = largest_micro(
      options.exact ? with_exact_buffers(memory, facts, usual_exact_buffers) : memory, devices);
  for (const std::int64_t cap : {facts.preferred_micro, shrunk_to})
    if (cap > 0) limit = std::min(limit, cap);
  return limit;
}

// Exact mode sums gradients in a tree of micro-batches. The tree is the same on any number of ranks
// only if no micro-batch holds padding.
void check_leaves_are_full(const BatchPlan& batch, const std::vector<Device>& devices) {
  if (batch.places() == batch.rows()) return;
  throw Error(cat("exact = true shares out the ", count_of(batch.rows(), "row"),
                  " of a step evenly, but they do not divide into ",
                  count_of(batch.world_size, rank_word(devices)),
                  batch.micro > 1 ? cat(" x micro-batch ", batch.micro) : ""),
              cat("use a number of ranks that divides ", batch.rows(),
                  ", or another batch.global, or set exact=false"));
}

// If rows need not divide evenly, a micro-batch could be mostly padding.
void check_not_beyond_share(const BatchPlan& batch) {
  if (batch.rows_per_sample == 1 || batch.micro <= batch.rows_per_rank()) return;
  throw Error(
      cat("batch.micro must be at most ", batch.rows_per_rank(),
          ", as many rows as a rank has of the ", batch.rows(), " of a step, but is ", batch.micro),
      cat("set batch.micro to ", batch.rows_per_rank(), " or less, or leave it out"));
}

// Calls solve_batch. An error also names the source of sizes that the user did not type.
BatchPlan solve_sizes(const TrainOptions& options, const Facts& facts, std::int64_t micro,
                      std::int64_t accumulation, std::int64_t limit,
                      const std::vector<Device>& devices) try {
  const auto& batch = options.batch;
  const bool fixed =
      options.table.is_given("batch.global") || (batch.micro > 0 && batch.accumulation > 0);
  return solve_batch(static_cast<std::int64_t>(devices.size()), fixed ? batch.global : 0, micro,
                     accumulation, batch.global > 0 ? batch.global : facts.default_global, limit,
                     rank_word(devices), std::max<std::int64_t>(1, facts.rows_per_sample));
} catch (const Error& error) {
  const std::string sources = batch_sources(options);
  throw Error(sources.empty() ? error.what() : cat(error.what(), " (", sources, ")"), error.hint());
}

// The global batch of a recipe or preset is a default, which may be rounded. If the two other sizes
// are set, it is not a default, and all three must agree.
BatchPlan solve_for(const TrainOptions& options, const Facts& facts, std::int64_t limit,
                    std::int64_t kept, const std::vector<Device>& devices) {
  const auto& batch = options.batch;
  const std::int64_t of_norm =
      micro_of_norm_rows(options, static_cast<std::int64_t>(devices.size()), rank_word(devices));
  if (of_norm > 0 && facts.fixed_micro > 0 && of_norm != facts.fixed_micro)
    throw Error(
        cat("norm.rows ", options.norm.rows, " asks for micro-batch ", of_norm,
            ", but the recipe's model stands on one of ", facts.fixed_micro),
        cat(options.norm.rows % facts.fixed_micro == 0
                ? cat("use ", count_of(options.norm.rows / facts.fixed_micro, rank_word(devices)),
                      ", or ")
                : "",
            "begin a new run without norm.rows"));
  const std::int64_t given = of_norm > 0 ? of_norm
                             : kept > 0  ? kept
                                         : std::max<std::int64_t>(batch.micro, 0);
  const std::int64_t micro = facts.fixed_micro > 0 ? facts.fixed_micro : given;
  BatchPlan solved =
      solve_sizes(options, facts, micro, kept > 0 ? 0 : batch.accumulation, limit, devices);
  solved.fixed_micro = facts.fixed_micro > 0;
  if (!solved.fixed_micro) check_not_beyond_share(solved);
  solved.norm_rows = norm_rows_of(options, solved);
  if (!options.exact) return solved;
  if (micro > 0 || batch.accumulation > 0) {
    check_leaves_are_full(solved, devices);
    return solved;
  }
  solved.micro = solved.accumulation = 1;
  if (solved.rows() % solved.world_size != 0) check_leaves_are_full(solved, devices);
  return with_micro(solved, choose_leaf_samples(solved.rows(), limit, solved.world_size));
}

void check_fixed_micro(const TrainOptions& options, const Facts& facts) {
  const std::int64_t fixed = facts.fixed_micro;
  if (fixed <= 0) return;
  const std::string stands = cat("the recipe's model stands on a micro-batch of ", fixed);
  if (options.batch.micro > 0 && options.batch.micro != fixed)
    throw Error(cat("batch.micro must be ", fixed, ", but is ", options.batch.micro, ": ", stands),
                "leave out batch.micro");
  for (const MicroChange& change : parse_micro_changes(options.batch.micro_changes))
    if (change.micro != fixed)
      throw Error(cat("batch.micro_changes asks for micro-batch ", change.micro, ", but ", stands),
                  "leave out batch.micro_changes");
}

// Limits the number of micro-batches, because the plan visits each of them.
void check_leaves(const BatchPlan& batch) {
  constexpr std::int64_t most_leaves = std::int64_t{1} << 20;
  if (batch.accumulation <= most_leaves / batch.world_size) return;
  throw Error(cat("exact = true adds up at most ", most_leaves, " micro-batches a step, but ",
                  batch.world_size, " x ", batch.accumulation, " are asked for"),
              "set batch.micro to more, or batch.accumulation to less");
}

void check_micro_changes(const TrainOptions& options, const BatchPlan& batch) {
  for (const MicroChange& change : parse_micro_changes(options.batch.micro_changes))
    if (!fits_share(batch, change.micro))
      throw Error(cat("batch.micro_changes: micro-batch ", change.micro, " does not divide the ",
                      batch.rows_per_rank(), " ", row_word(batch.rows_per_sample), "s of a rank"),
                  batch.rows_per_sample > 1 ? cat("write at most ", batch.rows_per_rank())
                                            : cat("write a divisor of ", batch.rows_per_rank()));
}

// The number of blocks to recompute. For `auto`, the fewest that fit, or all if nothing fits.
std::int64_t blocks_to_recompute(const MemoryEstimate& memory, std::int64_t micro,
                                 const TrainOptions& options, const std::vector<Device>& devices) {
  if (options.memory.recompute == Recompute::blocks) return memory.blocks;
  const auto tightest = tightest_device(devices);
  if (options.memory.recompute == Recompute::off || !tightest) return 0;
  for (std::int64_t blocks = 0; blocks < memory.blocks; ++blocks)
    if (needed_bytes(memory, micro, blocks) <= tightest->available_bytes) return blocks;
  return memory.blocks;
}

}  // namespace

MicroBatch choose_micro_batch(const TrainOptions& options, const Facts& facts,
                              const MemoryEstimate& whole, const std::vector<Device>& devices,
                              const MeasuredMemory& measured) {
  check_fixed_micro(options, facts);
  MicroBatch chosen;
  chosen.memory = options.shard_optimizer ? share_of_a_rank(whole, devices.size()) : whole;
  check_fixed_part_fits(chosen.memory, devices);
  const bool has_peak = take_peak(chosen.memory, measured.micro, measured.peak_bytes);
  if (options.batch.micro == micro_auto)
    chosen.memory.tried_micro = measured.micro;
  else
    chosen.memory.measured = has_peak;
  chosen.limit = limit_of(options, facts, chosen.memory, devices, measured.shrunk_to);
  chosen.batch = solve_for(options, facts, chosen.limit, measured.kept, devices);
  check_micro_changes(options, chosen.batch);
  const BatchPlan& batch = chosen.batch;
  if (options.exact) {
    check_leaves(batch);
    chosen.exact =
        plan_exact_sum(batch.world_size, batch.micro, batch.accumulation, facts.parameters);
    chosen.memory = with_exact_buffers(chosen.memory, facts, chosen.exact->buffers);
  }
  chosen.recomputed_blocks = blocks_to_recompute(chosen.memory, batch.micro, options, devices);
  chosen.needed_bytes = needed_bytes(chosen.memory, batch.micro, chosen.recomputed_blocks);
  return chosen;
}

bool fits_share(const BatchPlan& batch, std::int64_t micro) {
  const std::int64_t share = batch.rows_per_rank();
  return batch.rows_per_sample > 1 ? micro <= share : share % micro == 0;
}

BatchPlan with_micro(BatchPlan batch, std::int64_t micro) {
  LOCKSTEP_CHECK(micro > 0 && (batch.fixed_micro || fits_share(batch, micro)));
  batch.micro = micro;
  batch.accumulation = (batch.rows_per_rank() - 1) / micro + 1;
  return batch;
}

std::int64_t next_smaller_micro(const BatchPlan& batch) {
  if (batch.micro == 1 || batch.fixed_micro || batch.norm_rows > 0) return 0;
  return fitting_micro(batch, batch.micro - 1);
}

std::vector<MicroChange> parse_micro_changes(const std::string& text) {
  std::vector<MicroChange> changes;
  if (text.empty()) return changes;
  for (const std::string& part : split(text, ',')) {
    const std::vector<std::string> words = split(part, ':');
    const bool two = words.size() == 2;
    const auto step = two ? whole_number(words[0]) : std::nullopt;
    const auto micro = two ? whole_number<std::int64_t>(words[1], 1) : std::nullopt;
    if (!step || !micro)
      throw Error(cat("batch.micro_changes takes STEP:SAMPLES, with commas between several, but "
                      "holds \"",
                      part, "\""),
                  "for example batch.micro_changes=120:8,300:4");
    const MicroChange change{.step = *step, .micro = *micro};
    if (!changes.empty() && changes.back().step >= change.step)
      throw Error(cat("the steps of batch.micro_changes must rise, but ", change.step, " follows ",
                      changes.back().step),
                  "write them in order");
    changes.push_back(change);
  }
  return changes;
}

std::string format_micro_changes(const std::vector<MicroChange>& changes) {
  std::vector<std::string> parts;
  for (const MicroChange& change : changes) parts.push_back(cat(change.step, ":", change.micro));
  return join(parts, ",");
}

}  // namespace lockstep
