#include "planning/batch/scaling.h"

#include "core/base/check.h"
#include "core/base/error.h"

#include <algorithm>
#include <numeric>

namespace lockstep {
namespace {

// Multiples of this number can be divided over every count, with the given micro-batch or
// accumulation.
std::int64_t common_multiple(const std::vector<int>& counts, std::int64_t each) {
  std::int64_t multiple = 1;
  for (const int count : counts) multiple = std::lcm(multiple, std::int64_t{count} * each);
  return multiple;
}

}  // namespace

ScalingBatch scaling_batch(Scaling scaling, const std::vector<int>& counts, int count,
                           const BatchPlan& smallest, const TrainOptions& options) {
  LOCKSTEP_CHECK(!counts.empty());
  // Rows may be left over on one number of devices and not on another. So the sizes are found for
  // each count.
  if (scaling == Scaling::weak && smallest.places() != smallest.rows())
    return {.global = std::max<std::int64_t>(1, smallest.global * count / smallest.world_size)};
  if (scaling == Scaling::weak && smallest.rows_per_sample > 1)
    return {.global = smallest.global * count / smallest.world_size, .micro = smallest.micro};
  if (scaling == Scaling::weak)
    return {.global = std::int64_t{count} * smallest.micro * smallest.accumulation,
            .micro = smallest.micro,
            .accumulation = smallest.accumulation};
  const OptionTable& table = options.table;
  if (table.is_given("batch.global"))
    return {smallest.global, options.batch.micro, options.batch.accumulation};
  // Sizes of a preset are dropped to keep the same global batch. Sizes that the user gave are kept.
  const std::int64_t micro = table.is_given("batch.micro") ? options.batch.micro : 0;
  const std::int64_t accumulation =
      table.is_given("batch.accumulation") ? options.batch.accumulation : 0;
  if (micro > 0 && accumulation > 0)
    throw Error(
        "batch.micro and batch.accumulation are both set, so the global batch grows with the "
        "devices, but strong scaling keeps it",
        "leave out one of them, or use --scaling weak");
  const std::int64_t each = std::max<std::int64_t>({1, micro, accumulation});
  return {nearest_multiple(smallest.global, common_multiple(counts, each)), micro, accumulation};
}

}  // namespace lockstep
