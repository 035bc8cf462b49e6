// kill -9 at chosen calls that change files: each write, sync and rename of a save is such a point.
// LOCKSTEP_ATTACK_KILLS (8) says at how many of them, LOCKSTEP_ATTACK_FIRST (40) from which one on.
#include "attacked_run.h"

#include "fakes/tenths.h"

#include <cstdio>

namespace lockstep {
namespace {

using testing::number_from;

class KillPoints : public AttackedRun {};

TEST_F(KillPoints, EachLeavesTheNewestReportedCheckpointAndTheRunGoesOn) {
  const int kills = number_from("LOCKSTEP_ATTACK_KILLS", testing::share_of_turn(8));
  const int first =
      number_from("LOCKSTEP_ATTACK_FIRST", 40 + std::max(0, testing::tenth()) * 45 / 10);
  train_whole();
  // Rank 0's second save and what is deleted for it takes about 45 calls; from one start to the
  // next the points move through them, so that each comes in the end.
  int killed = 0;
  for (int round = 0; killed < kills && round < 3 * kills && !HasFailure(); ++round) {
    const std::string name = "cut-" + std::to_string(round);
    const int point = first + (kills <= 45 ? round * 45 / kills : round % 200);
    const testing::ToolResult cut =
        run(train(name), "kill " + std::to_string(point), "", runs / name);
    if (cut.code == 0) continue;
    ++killed;
    SCOPED_TRACE("killed at call " + std::to_string(point));
    EXPECT_THAT(cut.err, ::testing::HasSubstr("killed by signal 9"));
    const std::int64_t newest_reported = reported(runs / name);
    const auto newest = newest_good(runs / name / "checkpoints");
    EXPECT_GE(newest ? newest->step : -1, newest_reported);
    const testing::ToolResult on = run(resume(name));
    ASSERT_EQ(on.code, 0) << on.err;
    expect_whole(name);
    for (const auto& entry : std::filesystem::directory_iterator(runs / name / "checkpoints"))
      EXPECT_EQ(entry.path().filename().string().rfind("step-", 0), 0U) << entry.path();
    std::filesystem::remove_all(runs / name);
  }
  EXPECT_EQ(killed, kills);
  std::printf("attack: %d kills at calls that change files\n", killed);
}

}  // namespace
}  // namespace lockstep
