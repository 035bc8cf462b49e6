// What cannot be true, or explains all else, comes first.
#include "report_fixtures.h"

namespace lockstep {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const TrialGroup slow = group("a", {0.1}), fast = group("b", {0.05});

TEST(Flags, FasterWithMoreWork) {
  const Comparison found = compare(slow, with(fast, "global_batch", FactKind::work, 64), {});
  ASSERT_THAT(flag_names(found), Contains("faster_with_more_work"));
  EXPECT_THAT(comparison_text(found, 100),
              StartsWith("! b is faster (step time 2 ×) with more work"));
  EXPECT_THAT(flag_names(compare(slow, with(fast, "global_batch", FactKind::work, 16), {})),
              IsEmpty())
      << "less work may be faster";
  EXPECT_THAT(flag_names(compare(fast, with(slow, "global_batch", FactKind::work, 16), {})),
              Contains("faster_with_more_work"))
      << "whichever side it is";
}

// The training time holds the first step, so that it can be less where each step takes longer.
TEST(Flags, ATotalSaysNothingAgainstTheStepTime) {
  const Quantity total = {.name = "train_s", .title = "training time", .unit = "s", .total = true};
  TrialGroup a = fast, b = with(slow, "global_batch", FactKind::work, 64);
  a.trials[0].measure(total, 3);
  b.trials[0].measure(total, 2);
  EXPECT_THAT(flag_names(compare(a, b, {})), IsEmpty());
  TrialGroup c = with(group("c", {0.05}), "global_batch", FactKind::work, 64);
  c.trials[0].measure(total, 2);
  EXPECT_THAT(flag_names(compare(a, c, {})), Contains("faster_with_more_work"));
  EXPECT_THAT(flag_names(compare(a, with(b, "steps", FactKind::amount, 200), {})),
              Contains("faster_with_more_work"))
      << "more steps, each slower, in less time";
}

TEST(Flags, LessMemoryWithMoreWork) {
  TrialGroup a = slow, b = with(slow, "global_batch", FactKind::work, 64);
  const Quantity memory{
      .name = "memory_bytes", .title = "memory", .unit = "bytes", .aspect = Aspect::memory};
  a.trials[0].measure(memory, 2e9);
  b.trials[0].measure(memory, 1e9);
  EXPECT_THAT(flag_names(compare(a, b, {})), Contains("less_memory_with_more_work"));
}

TEST(Flags, BelowThePhysicalFloor) {
  TrialGroup b = with(fast, "flops_per_step", FactKind::note, 1e14);
  b = with(b, "peak_flops", FactKind::place, 1e15);
  const Comparison found = compare(slow, b, {});
  ASSERT_THAT(flag_names(found), Contains("below_physical_floor"));
  EXPECT_THAT(found.flags[0].text, HasSubstr("need 100 ms at least"));
}

TEST(Flags, MoreSamplesPerSecondThanTheDevicesCanGive) {
  TrialGroup a = slow, b = with(fast, "device_count", FactKind::note, 2);
  const Quantity rate = {.name = "samples_per_s", .title = "samples", .better = Better::higher};
  a.trials[0].measure(rate, 100);
  b.trials[0].measure(rate, 190);
  EXPECT_THAT(flag_names(compare(a, b, {})), IsEmpty());
  b.trials[0].quantities.back().value = 210;
  EXPECT_THAT(flag_names(compare(a, b, {})), Contains("above_number_of_devices"));
}

TEST(Flags, AnIdleDeviceOtherTenantsAndASubset) {
  TrialGroup b = with(fast, "busy_percent", FactKind::note, {{"GPU 0", 90}, {"GPU 1", 0.3}});
  b = with(b, "other_processes", FactKind::place, 2);
  b = with(b, "jobs_beside", FactKind::place, 540);
  const Comparison found = compare(slow, b, {});
  EXPECT_THAT(flag_names(found), Contains("idle_device"));
  EXPECT_THAT(flag_names(found), Contains("other_tenants"));
  EXPECT_EQ(found.flags[0].name, "subset_of_a_larger_batch");
}

}  // namespace
}  // namespace lockstep
