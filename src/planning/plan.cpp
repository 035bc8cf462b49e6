// Makes the plan of a run from options, facts and devices.
#include "planning/plan.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/batch/micro_batch.h"
#include "planning/compute.h"
#include "planning/memory/memory.h"
#include "planning/notes.h"
#include "planning/options/interval.h"
#include "planning/options/schedule_options.h"
#include "planning/precision.h"
#include "planning/words.h"

#include <utility>

namespace lockstep {
namespace {

std::int64_t epoch_steps(const TrainOptions& options, const Plan& plan) {
  const std::int64_t global = plan.batch.global;
  const std::int64_t steps = count_epoch_steps(plan.epoch_size, global, options.data.drop_last);
  if (steps == 0 && plan.epoch_size > 0)
    throw Error(cat("data.drop_last = true leaves nothing: an epoch has ",
                    count_of(plan.epoch_size, "sample"), ", and a step takes ", global),
                "set data.drop_last=false, or batch.global to less");
  return steps;
}

// Adds the reduce buffer, in which ranks hold a second copy of gradients if these are reduced in
// bf16 (training/gradients/reduce_buffer.h).
MemoryEstimate with_reduce_buffer(MemoryEstimate memory, const TrainOptions& options,
                                  const Facts& facts, std::size_t ranks) {
  if (options.reduce_precision == ReducePrecision::bf16 && ranks > 1)
    memory.fixed_bytes += 2 * static_cast<double>(facts.parameters);
  return memory;
}

// The peak rate of AdamW. It is proportional to the run's rate, also if scale_lr changed that rate.
double peak_of_adamw(const TrainOptions& options, const Schedule& schedule) {
  const auto& optimizer = options.optimizer;
  if (optimizer.kind != OptimizerKind::muon || optimizer.lr <= 0) return 0;
  return optimizer.adamw_lr * schedule.base_lr / optimizer.lr;
}

}  // namespace

Plan make_plan(const TrainOptions& options, const Facts& facts, const MemoryEstimate& whole,
               const std::vector<Device>& devices, const MeasuredMemory& measured) {
  LOCKSTEP_CHECK(!devices.empty());
  check_precision(options, devices);
  const MemoryEstimate memory = with_reduce_buffer(
      with_rules(whole, options, facts, devices.size()), options, facts, devices.size());
  const MicroBatch chosen = choose_micro_batch(options, facts, memory, devices, measured);
  const std::int64_t global = chosen.batch.global;
  Plan plan;
  plan.batch = chosen.batch;
  plan.exact = chosen.exact;
  plan.memory = chosen.memory;
  plan.memory_needed_bytes = chosen.needed_bytes;
  plan.keeps_micro = measured.kept > 0;
  plan.recomputed_blocks = chosen.recomputed_blocks;
  plan.sharding_saves_bytes = sharding_saves(whole, options, facts, devices.size());
  plan.devices = devices;
  plan.precision = plan_precision(options, devices);
  plan.batch_norm = facts.batch_norm;
  plan.torch_batch_norm = facts.torch_batch_norm;
  plan.train_samples = facts.train_samples;
  plan.valid_samples = facts.valid_samples;
  plan.evaluation_passes = facts.evaluation_passes > 0 ? facts.evaluation_passes
                                                       : static_cast<double>(facts.valid_samples);
  plan.epoch_size = facts.epoch_size > 0 ? facts.epoch_size : facts.train_samples;
  plan.steps_per_epoch = epoch_steps(options, plan);
  plan.total_steps = count_steps(options, plan.steps_per_epoch);
  plan.schedule = make_schedule(options, global, plan.steps_per_epoch, plan.total_steps);
  plan.unit = facts.unit;
  plan.smaller_sample = facts.smaller_sample;
  plan.units_per_step = facts.units_per_sample * static_cast<double>(global);
  plan.compute = plan_compute(options, facts, global, devices);
  plan.parameters = facts.parameters;
  plan.frozen_parameters = facts.frozen_parameters;
  plan.groups = facts.groups;
  plan.rules = rule_counts(options, facts.optimized);
  plan.adamw_lr = peak_of_adamw(options, plan.schedule);
  plan.init_from = options.init.from;
  check_intervals(options, plan.steps_per_epoch);
  plan.notes = plan_notes(plan, options);
  for (std::string& note : micro_batch_notes(plan, options, chosen.limit))
    plan.notes.push_back(std::move(note));
  return plan;
}

}  // namespace lockstep
