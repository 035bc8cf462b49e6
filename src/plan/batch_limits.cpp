#include "plan/batch_limits.h"

#include "base/error.h"
#include "base/text.h"
#include "plan/memory.h"
#include "plan/memory_help.h"
#include "plan/words.h"

#include <algorithm>

namespace lockstep {
namespace {

// Of a device's whole memory. An estimate may be wrong by a factor of two or three; a measured peak
// is not.
constexpr double most_by_estimate = 4, most_as_measured = 1.5;

bool global_is_given(const TrainOptions& options) {
  return options.batch.global > 0 && options.table.is_given("batch.global");
}

bool sizes_are_given(const TrainOptions& options) {
  return global_is_given(options) || options.batch.micro > 0 || options.batch.accumulation > 0;
}

// What to set so that a step holds at most `most` samples.
std::string smaller_batch(const Plan& plan, const TrainOptions& options, std::int64_t most) {
  const bool global = global_is_given(options);
  const bool micro = options.batch.micro > 0, accumulation = options.batch.accumulation > 0;
  if (global && !micro && !accumulation)
    return cat("set batch.global to at most ", most, ", or leave it out");
  if (micro && !accumulation)
    return cat("set batch.micro to at most ", most / plan.batch.world_size,
               global ? cat(", and batch.global to at most ", most) : ", or leave it out");
  return cat("set ", global ? "batch.global, " : "", micro ? "batch.micro and " : "",
             "batch.accumulation so that a step holds at most ", most, " samples");
}

// The smallest batch that holds all samples.
std::int64_t whole_data(const Plan& plan) {
  const std::int64_t ranks = plan.batch.world_size;
  return ((plan.train_samples - 1) / ranks + 1) * ranks;
}

// Rows beyond the last sample of an epoch are padding, which is as it should be for the last step.
// A batch of which every step would be padded though a smaller one holds all samples is a mistake.
void check_data(const Plan& plan, const TrainOptions& options) {
  if (plan.train_samples <= 0 || !sizes_are_given(options)) return;
  if (plan.batch.global <= whole_data(plan)) return;
  throw Error(cat("global batch ", plan.batch.global, " is more than the ",
                  count_of(plan.train_samples, "training sample"), " that there are"),
              smaller_batch(plan, options, whole_data(plan)));
}

// The largest micro-batch that fits by the estimate, and goes into the global batch and the data.
std::int64_t fitting_micro(const Plan& plan, const TrainOptions& options) {
  std::int64_t fits = largest_micro(plan.memory, plan.devices);
  if (plan.train_samples > 0) fits = std::min(fits, whole_data(plan) / plan.batch.world_size);
  const bool any = !global_is_given(options) && options.batch.accumulation == 0;
  return any ? fits : largest_divisor(plan.batch.global / plan.batch.world_size, fits);
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
                  : memory_help(plan, options, micro, ""));
}

}  // namespace

void check_batch_limits(const Plan& plan, const TrainOptions& options) {
  check_memory(plan, options);
  check_data(plan, options);
}

}  // namespace lockstep
