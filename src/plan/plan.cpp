// Makes the plan of a run from options, facts and devices.
#include "plan/plan.h"

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "plan/compute.h"
#include "plan/memory.h"
#include "plan/micro_batches.h"
#include "plan/notes.h"
#include "plan/precision.h"
#include "plan/schedule_options.h"
#include "plan/words.h"

#include <algorithm>

namespace lockstep {
namespace {

// A global batch of the recipe or of a preset is a default, which may be rounded. It is none where
// the two other sizes are fixed: then all three must agree.
BatchPlan solve_for(const TrainOptions& options, const Facts& facts, std::int64_t largest_micro,
                    const std::vector<Device>& devices) {
  const auto& batch = options.batch;
  const bool fixed =
      options.table.is_given("batch.global") || (batch.micro > 0 && batch.accumulation > 0);
  BatchPlan solved = solve_batch(
      static_cast<std::int64_t>(devices.size()), fixed ? batch.global : 0,
      std::max<std::int64_t>(batch.micro, 0), batch.accumulation,
      batch.global > 0 ? batch.global : facts.default_global, largest_micro, rank_word(devices));
  if (options.exact && batch.micro <= 0 && batch.accumulation == 0) {
    solved.micro = choose_leaf_samples(solved.global, largest_micro, solved.world_size);
    solved.accumulation = solved.global / solved.world_size / solved.micro;
  }
  return solved;
}

// The flat buffers of exact sums: part of what a rank needs whatever its micro-batch.
MemoryEstimate with_exact_buffers(MemoryEstimate memory, const Facts& facts, std::int64_t buffers) {
  memory.fixed_bytes += 4.0 * static_cast<double>(buffers * facts.parameters);
  return memory;
}

// Before the micro-batch is known, and with it how many buffers there will be.
constexpr std::int64_t usual_exact_buffers = 3;

// The plan goes through all of them.
void check_leaves(const BatchPlan& batch) {
  constexpr std::int64_t most_leaves = std::int64_t{1} << 20;
  if (batch.accumulation <= most_leaves / batch.world_size) return;
  throw Error(cat("exact = true adds up at most ", most_leaves, " micro-batches a step, but ",
                  batch.world_size, " x ", batch.accumulation, " are asked for"),
              "set batch.micro to more, or batch.accumulation to less");
}

}  // namespace

Plan make_plan(const TrainOptions& options, const Facts& facts, const MemoryEstimate& whole,
               const std::vector<Device>& devices) {
  LOCKSTEP_CHECK(!devices.empty());
  check_precision(options, devices);
  MemoryEstimate memory = for_a_rank(whole, options, devices.size());
  check_fixed_part_fits(memory, devices);
  std::int64_t largest = largest_micro(
      options.exact ? with_exact_buffers(memory, facts, usual_exact_buffers) : memory, devices);
  if (facts.preferred_micro > 0) largest = std::min(largest, facts.preferred_micro);
  if (options.batch.micro == micro_auto && memory.tried_micro > 0) largest = memory.tried_micro;

  Plan plan;
  plan.batch = solve_for(options, facts, largest, devices);
  const std::int64_t global = plan.batch.global;
  check_micro_changes(parse_micro_changes(options.batch.micro_changes, "batch.micro_changes"),
                      plan.batch, "batch.micro_changes");
  if (options.exact) {
    const BatchPlan& batch = plan.batch;
    check_leaves(batch);
    plan.exact =
        plan_exact_sum(batch.world_size, batch.micro, batch.accumulation, facts.parameters);
    memory = with_exact_buffers(memory, facts, plan.exact->buffers);
  }
  plan.devices = devices;
  plan.precision = plan_precision(options, devices);
  plan.train_samples = facts.train_samples;
  plan.valid_samples = facts.valid_samples;
  if (facts.train_samples > 0) plan.steps_per_epoch = (facts.train_samples - 1) / global + 1;
  plan.total_steps = count_steps(options, plan.steps_per_epoch);
  plan.schedule = make_schedule(options, global, plan.steps_per_epoch, plan.total_steps);
  plan.memory = memory;
  plan.sharding_saves_bytes = whole.fixed_bytes - memory.fixed_bytes;
  plan.recomputed_blocks = blocks_to_recompute(memory, plan.batch.micro, options, devices);
  plan.memory_needed_bytes = needed_bytes(memory, plan.batch.micro, plan.recomputed_blocks);
  plan.unit = facts.unit;
  plan.units_per_step = facts.units_per_sample * static_cast<double>(global);
  plan.compute = plan_compute(options, facts, global, devices);
  plan.notes = plan_notes(plan, options, facts);
  return plan;
}

}  // namespace lockstep
