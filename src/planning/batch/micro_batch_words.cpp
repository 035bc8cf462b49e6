// Messages about a micro-batch: notes of the plan, refusals of a new run, and help if no sample
// fits.
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/batch/micro_batch.h"
#include "planning/memory/memory.h"
#include "planning/options/batch_options.h"
#include "planning/words.h"

#include <algorithm>

namespace lockstep {
namespace {

using Notes = std::vector<std::string>;

void note_auto(const Plan& plan, const TrainOptions& options, Notes& notes) {
  if (options.batch.micro != micro_auto) return;
  notes.push_back(
      plan.keeps_micro
          ? "batch.micro = auto: the run keeps the micro-batch that it has had on such "
            "devices"
      : plan.memory.tried_micro > 0
          ? cat("batch.micro = auto: micro-batches were tried out on these devices, and ",
                plan.memory.tried_micro, " is the largest that leaves 8 % and 512 MiB free")
          : "batch.micro = auto: not tried out yet on these devices, so the micro-batch is by the "
            "estimate; lockstep train tries it out before it starts");
}

void note_recompute(const Plan& plan, const TrainOptions& options, Notes& notes) {
  if (options.memory.recompute == Recompute::off) return;
  const MemoryEstimate& memory = plan.memory;
  if (memory.blocks == 0) {
    notes.push_back(cat(
        "the recipe does not tell how many blocks its model has, so memory.recompute ",
        options.memory.recompute == Recompute::blocks ? "= blocks is not in the estimate of memory"
                                                      : "= auto changes nothing"));
  } else if (plan.recomputed_blocks > 0) {
    const double saved = needed_bytes(memory, plan.batch.micro) - plan.memory_needed_bytes;
    notes.push_back(cat("activations of ", plan.recomputed_blocks, " of ", memory.blocks,
                        " blocks are computed again in backward (memory.recompute), which saves ",
                        format_bytes(saved), " and costs one more forward pass of these blocks"));
  } else {
    notes.push_back("memory.recompute = auto: everything fits, nothing is computed again");
  }
}

void note_memory(const Plan& plan, const TrainOptions& options, Notes& notes) {
  const auto tightest = tightest_device(plan.devices);
  if (!tightest || plan.memory_needed_bytes <= tightest->available_bytes) return;
  const bool by_user = options.batch.micro > 0 || options.batch.accumulation > 0;
  notes.push_back(cat("warning: micro-batch ", plan.batch.micro, " needs about ",
                      format_bytes(plan.memory_needed_bytes),
                      plan.memory.measured ? " as measured" : " by estimate", ", more than the ",
                      format_bytes(tightest->available_bytes), " available on ",
                      device_label(plan.devices[tightest->rank]), "; if memory runs out, ",
                      plan.memory.blocks > 0 && options.memory.recompute == Recompute::off
                          ? "set memory.recompute=auto, or "
                          : "",
                      plan.keeps_micro ? "set batch.micro=0, with which it is chosen again"
                      : by_user        ? "leave out batch.micro and batch.accumulation"
                      : plan.smaller_sample.empty()
                          ? "choose a smaller model"
                          : cat("choose ", plan.smaller_sample, ", or a smaller model")));
}

// Notes that the estimate nearly fills the available memory. Its error may exceed the memory that
// is left.
void note_tight(const Plan& plan, const TrainOptions& options, Notes& notes) {
  constexpr double tight = 0.95;
  const auto tightest = tightest_device(plan.devices);
  if (!tightest || plan.memory.measured || plan.memory.tried_micro > 0) return;
  const double share = plan.memory_needed_bytes / tightest->available_bytes;
  if (share < tight || share > 1) return;
  const std::int64_t smaller = options.exact ? 0 : next_smaller_micro(plan.batch);
  notes.push_back(cat(
      "memory is tight: micro-batch ", plan.batch.micro, " needs ", fixed(100 * share, 0),
      " % of what is available, by an estimate",
      smaller > 0 ? cat("; batch.micro=", smaller, " leaves more, and ",
                        options.batch.micro == micro_auto ? "training tries out what fits"
                                                          : "batch.micro=auto tries out what fits")
                  : ""));
}

void note_small_micro(const Plan& plan, const TrainOptions& options, std::int64_t fits,
                      Notes& notes) {
  if (options.batch.micro != 0 || options.batch.accumulation > 0 || options.exact) return;
  if (plan.keeps_micro) return;
  const BatchPlan& batch = plan.batch;
  if (batch.fixed_micro || batch.rows_per_sample > 1) return;
  if (batch.accumulation == 1 || batch.micro > fits / 2) return;
  notes.push_back(cat("a micro-batch of up to ", fits, " would fit, but ", batch.micro,
                      " is the largest that divides ", batch.global / batch.world_size,
                      " samples a ", rank_word(plan.devices),
                      "; a batch.global with more divisors would be faster"));
}

// Notes a given accumulation that is not needed, because a device's whole share fits at once.
void note_accumulation(const Plan& plan, const TrainOptions& options, std::int64_t fits,
                       Notes& notes) {
  const BatchPlan& batch = plan.batch;
  if (options.batch.accumulation <= 1 || options.batch.micro > 0 || options.exact) return;
  if (plan.memory_needed_bytes <= 0 || fits < batch.rows_per_rank()) return;
  const std::string source = size_source(options, "batch.accumulation");
  notes.push_back(cat(
      "all ", count_of(batch.rows_per_rank(), row_word(batch.rows_per_sample)), " of a ",
      rank_word(plan.devices), " would fit at once, but batch.accumulation = ", batch.accumulation,
      " takes them in micro-batches of ", batch.micro, source.empty() ? "" : cat(" (", source, ")"),
      "; without it a step mostly takes less time"));
}

// Limits as multiples of a device's whole memory. An estimate may be wrong by a factor of two or
// three, while a measured peak is accurate.
constexpr double most_by_estimate = 4, most_as_measured = 1.5;

bool global_is_given(const TrainOptions& options) {
  return options.batch.global > 0 && options.table.is_given("batch.global");
}

bool sizes_are_given(const TrainOptions& options) {
  return global_is_given(options) || options.batch.micro > 0 || options.batch.accumulation > 0;
}

// Says which sizes to set so that a step holds at most `most` samples.
std::string smaller_batch(const Plan& plan, const TrainOptions& options, std::int64_t most) {
  const bool global = global_is_given(options);
  const bool micro = options.batch.micro > 0, accumulation = options.batch.accumulation > 0;
  if (global && !micro && !accumulation)
    return cat("set batch.global to at most ", most, ", or leave it out");
  if (micro && !accumulation)
    return cat("set batch.micro to at most ",
               most * plan.batch.rows_per_sample / plan.batch.world_size,
               global ? cat(", and batch.global to at most ", most) : ", or leave it out");
  return cat("set ", global ? "batch.global, " : "", micro ? "batch.micro and " : "",
             "batch.accumulation so that a step holds at most ", most, " samples");
}

// The preset that sets the batch sizes. Empty if the user gave one of them.
std::string preset_of_batch(const TrainOptions& options) {
  std::string preset;
  for (const OptionInfo& option : options.table.options()) {
    if (option.key != "batch.global" && option.key != "batch.micro" &&
        option.key != "batch.accumulation")
      continue;
    if (options.table.is_given(option.key)) return "";
    if (option.source.kind == ValueSource::Kind::preset) preset = option.source.where;
  }
  return preset;
}

// Explains a preset's batch that is larger than the data. The preset is meant for more data.
std::string more_data(const std::string& preset, const TrainOptions& options, std::int64_t most,
                      bool has_data) {
  return cat("preset ", preset, " sets this batch, for more data",
             has_data ? " than yours: set" : ": name yours, as with data.path=…, or set",
             " batch.global=", most, options.batch.micro > 0 ? " batch.micro=0" : "",
             options.batch.accumulation > 0 ? " batch.accumulation=0" : "");
}

// The smallest batch that holds all samples and gives each rank equally many.
std::int64_t whole_data(const Plan& plan) {
  const std::int64_t ranks = plan.batch.world_size;
  return ((plan.epoch_size - 1) / ranks + 1) * ranks;
}

// Refuses a batch that is larger than an epoch, because every step would then be padded. Padding in
// the last step alone is normal.
void check_data(const Plan& plan, const TrainOptions& options, bool has_data) {
  if (plan.epoch_size <= 0 || !sizes_are_given(options)) return;
  const std::int64_t most = whole_data(plan);
  if (plan.batch.global <= most) return;
  const std::string preset = preset_of_batch(options);
  throw Error(cat("global batch ", plan.batch.global, " is more than the ",
                  count_of(plan.epoch_size, "training sample"), " that there are",
                  plan.epoch_size != plan.train_samples ? " in an epoch" : ""),
              preset.empty() ? smaller_batch(plan, options, most)
                             : more_data(preset, options, most, has_data));
}

// The largest micro-batch that fits by the estimate, and is not larger than the data allow. It also
// divides the share of the global batch, if that batch is given.
std::int64_t fitting_micro(const Plan& plan, const TrainOptions& options) {
  std::int64_t fits = largest_micro(plan.memory, plan.devices);
  const std::int64_t ranks = plan.batch.world_size, parts = plan.batch.rows_per_sample;
  if (plan.epoch_size > 0) fits = std::min(fits, whole_data(plan) / ranks * parts);
  const bool any = !global_is_given(options) && options.batch.accumulation == 0;
  return any ? fits : fitting_micro(plan.batch, fits);
}

void check_memory(const Plan& plan, const TrainOptions& options) {
  const auto tightest = tightest_device(plan.devices);
  if (!tightest) return;
  const Device& device = plan.devices[tightest->rank];
  const double present = static_cast<double>(device.memory_bytes);
  const bool measured = plan.memory.measured || plan.memory.tried_micro > 0;
  if (plan.memory_needed_bytes <= present * (measured ? most_as_measured : most_by_estimate))
    return;
  const std::int64_t micro = plan.batch.micro;
  const bool by_user = options.batch.micro > 0 || options.batch.accumulation > 0;
  const std::int64_t fits = fitting_micro(plan, options);
  throw Error(cat("micro-batch ", micro, " needs about ", format_bytes(plan.memory_needed_bytes),
                  measured ? " as measured" : " by estimate", ", ",
                  fixed(plan.memory_needed_bytes / present, 0), " times the ",
                  format_bytes(present), " of ", device_label(device)),
              by_user && fits < micro
                  ? cat("set batch.micro to ", fits, " or less, or leave out ",
                        options.batch.accumulation > 0 ? "batch.micro and batch.accumulation"
                                                       : "batch.micro")
                  : memory_help(plan, options, micro));
}

}  // namespace

std::vector<std::string> micro_batch_notes(const Plan& plan, const TrainOptions& options,
                                           std::int64_t limit) {
  Notes notes;
  note_recompute(plan, options, notes);
  note_auto(plan, options, notes);
  note_memory(plan, options, notes);
  note_tight(plan, options, notes);
  note_small_micro(plan, options, limit, notes);
  note_accumulation(plan, options, limit, notes);
  return notes;
}

void check_new_batch(const Plan& plan, const TrainOptions& options, bool has_data) {
  check_memory(plan, options);
  check_data(plan, options, has_data);
}

std::string memory_help(const Plan& plan, const TrainOptions& options, std::int64_t micro,
                        const std::string& smaller_sample) {
  const MemoryEstimate& memory = plan.memory;
  const double activations =
      needed_bytes(memory, micro, plan.recomputed_blocks) - memory.fixed_bytes;
  std::vector<std::string> ways;
  if (const std::string& way = smaller_sample.empty() ? plan.smaller_sample : smaller_sample;
      !way.empty())
    ways.push_back(way);
  if (memory.blocks > plan.recomputed_blocks) {
    const double saved = needed_bytes(memory, micro, plan.recomputed_blocks) -
                         needed_bytes(memory, micro, memory.blocks);
    ways.push_back(cat("memory.recompute=blocks (about ", format_bytes(saved), " less)"));
  }
  if (plan.batch.world_size > 1 && !options.shard_optimizer && !options.exact &&
      plan.sharding_saves_bytes > 0)
    ways.push_back(
        cat("shard_optimizer=true (about ", format_bytes(plan.sharding_saves_bytes), " less)"));
  if (options.precision == Precision::fp32)
    ways.push_back(cat("precision=bf16, or fp16 before sm_80 (about ",
                       format_bytes(activations / 2), " less)"));
  ways.push_back("a smaller model");
  if (memory.fixed_bytes <= 0) return join(ways, "; ");
  const auto tightest = tightest_device(plan.devices);
  return cat("by estimate ", count_of(micro, row_word(plan.batch.rows_per_sample)), " at once need",
             micro == 1 ? "s " : " ", format_bytes(memory.fixed_bytes + activations), " a ",
             rank_word(plan.devices), " (", format_bytes(memory.fixed_bytes),
             " for weights, gradients and the optimizer, ", format_bytes(activations),
             " for activations)",
             tightest ? cat(" of ", format_bytes(tightest->available_bytes), " available") : "",
             "; what would help: ", join(ways, "; "));
}

}  // namespace lockstep
