#include "plan/micro_batch.h"

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "base/whole_number.h"
#include "plan/memory.h"
#include "plan/words.h"

#include <algorithm>

namespace lockstep {
namespace {

std::int64_t share_of(const BatchPlan& batch) { return batch.global / batch.world_size; }

// With shard_optimizer, a rank's share.
MemoryEstimate for_a_rank(MemoryEstimate memory, const TrainOptions& options, std::size_t ranks) {
  if (!options.shard_optimizer) return memory;
  const double kept = memory.optimizer_bytes / static_cast<double>(ranks);
  memory.fixed_bytes -= memory.optimizer_bytes - kept;
  memory.optimizer_bytes = kept;
  return memory;
}

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

// The flat buffers of exact sums: part of what a rank needs whatever its micro-batch.
MemoryEstimate with_exact_buffers(MemoryEstimate memory, const Facts& facts, std::int64_t buffers) {
  memory.fixed_bytes += 4.0 * static_cast<double>(buffers * facts.parameters);
  return memory;
}

// Before the micro-batch is known, and with it how many buffers there will be.
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

// A global batch of the recipe or of a preset is a default, which may be rounded. It is none where
// the two other sizes are fixed: then all three must agree.
BatchPlan solve_for(const TrainOptions& options, const Facts& facts, std::int64_t limit,
                    const std::vector<Device>& devices) {
  const auto& batch = options.batch;
  const bool fixed =
      options.table.is_given("batch.global") || (batch.micro > 0 && batch.accumulation > 0);
  const BatchPlan solved = solve_batch(
      static_cast<std::int64_t>(devices.size()), fixed ? batch.global : 0,
      std::max<std::int64_t>(batch.micro, 0), batch.accumulation,
      batch.global > 0 ? batch.global : facts.default_global, limit, rank_word(devices));
  if (!options.exact || batch.micro > 0 || batch.accumulation > 0) return solved;
  return with_micro(solved, choose_leaf_samples(solved.global, limit, solved.world_size));
}

// The plan goes through all of them.
void check_leaves(const BatchPlan& batch) {
  constexpr std::int64_t most_leaves = std::int64_t{1} << 20;
  if (batch.accumulation <= most_leaves / batch.world_size) return;
  throw Error(cat("exact = true adds up at most ", most_leaves, " micro-batches a step, but ",
                  batch.world_size, " x ", batch.accumulation, " are asked for"),
              "set batch.micro to more, or batch.accumulation to less");
}

void check_micro_changes(const TrainOptions& options, const BatchPlan& batch) {
  for (const MicroChange& change : parse_micro_changes(options.batch.micro_changes))
    if (share_of(batch) % change.micro != 0)
      throw Error(cat("batch.micro_changes: micro-batch ", change.micro, " does not divide the ",
                      share_of(batch), " samples of a rank"),
                  cat("write a divisor of ", share_of(batch)));
}

// With `auto` the fewest blocks that fit, or all where nothing fits.
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
  MicroBatch chosen;
  chosen.memory = for_a_rank(whole, options, devices.size());
  check_fixed_part_fits(chosen.memory, devices);
  const bool has_peak = take_peak(chosen.memory, measured.micro, measured.peak_bytes);
  if (options.batch.micro == micro_auto)
    chosen.memory.tried_micro = measured.micro;
  else
    chosen.memory.measured = has_peak;
  chosen.limit = limit_of(options, facts, chosen.memory, devices, measured.shrunk_to);
  chosen.batch = solve_for(options, facts, chosen.limit, devices);
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

BatchPlan with_micro(BatchPlan batch, std::int64_t micro) {
  LOCKSTEP_CHECK(micro > 0 && share_of(batch) % micro == 0);
  batch.micro = micro;
  batch.accumulation = share_of(batch) / micro;
  return batch;
}

std::int64_t next_smaller_micro(const BatchPlan& batch) {
  return batch.micro == 1 ? 0 : largest_divisor(share_of(batch), batch.micro - 1);
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

}  // namespace lockstep
