// Makes the plan of a run from options, facts and devices.
#include "plan/plan.h"

#include "base/check.h"
#include "plan/memory.h"
#include "plan/notes.h"
#include "plan/schedule_options.h"
#include "plan/words.h"

#include <algorithm>

namespace lockstep {

Plan make_plan(const TrainOptions& options, const Facts& facts, const MemoryEstimate& memory,
               const std::vector<Device>& devices) {
  LOCKSTEP_CHECK(!devices.empty());
  check_fixed_part_fits(memory, devices);
  std::int64_t largest = largest_micro(memory, devices);
  if (facts.preferred_micro > 0) largest = std::min(largest, facts.preferred_micro);

  Plan plan;
  plan.batch = solve_batch(static_cast<std::int64_t>(devices.size()), options.batch.global,
                           options.batch.micro, options.batch.accumulation, facts.default_global,
                           largest, rank_word(devices));
  const std::int64_t global = plan.batch.global;
  plan.devices = devices;
  plan.train_samples = facts.train_samples;
  plan.valid_samples = facts.valid_samples;
  if (facts.train_samples > 0) plan.steps_per_epoch = (facts.train_samples - 1) / global + 1;
  plan.total_steps = count_steps(options, plan.steps_per_epoch);
  plan.schedule = make_schedule(options, global, plan.steps_per_epoch, plan.total_steps);
  plan.memory = memory;
  plan.memory_needed_bytes = needed_bytes(memory, plan.batch.micro);
  plan.unit = facts.unit;
  plan.units_per_step = facts.units_per_sample * static_cast<double>(global);
  plan.notes = plan_notes(plan, options, facts);
  return plan;
}

}  // namespace lockstep
