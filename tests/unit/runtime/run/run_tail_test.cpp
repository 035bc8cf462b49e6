// A run followed while it goes on.
#include "runtime/run/folder/run_tail.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/files/files.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

using nlohmann::json;

class RunTailTest : public ::testing::Test {
 protected:
  std::filesystem::path events() const { return folder_.path() / "events.jsonl"; }
  void append_text(const std::string& text) const {
    std::ofstream(events(), std::ios::app | std::ios::binary) << text;
  }
  void append(const json& event) const { append_text(event.dump() + "\n"); }
  static json start(int step = 0) {
    return {{"kind", "start"},  {"step", step},          {"total_steps", 100}, {"time", 1.5},
            {"unit", "tokens"}, {"eval_every_steps", 0}, {"eval_batches", 0}};
  }
  static json step(int number, double seconds = 2) {
    return {{"kind", "step"}, {"step", number},    {"step_s", seconds},
            {"loss", 1.0},    {"save_share", 0.0}, {"units_per_s", 500.0},
            {"time", 2.5},    {"epoch", 0.1},      {"rank_wait_shares", json::array({0.1, 0.2})}};
  }
  TemporaryDirectory folder_;
};

TEST_F(RunTailTest, KnowsNothingWithoutAFile) {
  RunTail tail(events());
  tail.read_on();
  EXPECT_FALSE(tail.step());
  EXPECT_FALSE(tail.units_per_s());
  EXPECT_FALSE(tail.seconds_left());
  EXPECT_EQ(tail.total_steps(), 0);
}

TEST_F(RunTailTest, ALineWithoutAnEndIsReadOnceAndEndsTheReading) {
  append(start());
  append(step(10));
  std::filesystem::resize_file(events(), std::uintmax_t{1} << 40);  // zeros, without blocks
  RunTail tail(events());
  tail.read_on();
  EXPECT_EQ(tail.step(), 10);
  append(step(20));
  tail.read_on();
  EXPECT_EQ(tail.step(), 10);
  std::filesystem::remove(events());
  append(start(30));
  tail.read_on();
  EXPECT_EQ(tail.step(), 30);
}

TEST_F(RunTailTest, FollowsStepsRateAndTimeLeft) {
  append(start());
  RunTail tail(events());
  tail.read_on();
  EXPECT_EQ(tail.step(), 0);
  EXPECT_FALSE(tail.seconds_left());
  append(step(10));
  append(step(20));
  tail.read_on();
  EXPECT_EQ(tail.step(), 20);
  EXPECT_EQ(tail.total_steps(), 100);
  EXPECT_EQ(tail.units_per_s(), 500);
  EXPECT_EQ(tail.unit(), "tokens");
  EXPECT_DOUBLE_EQ(tail.seconds_left().value(), 160);
}

TEST_F(RunTailTest, WaitsForTheRestOfALine) {
  append(start());
  const std::string line = step(10).dump() + "\n";
  append_text(line.substr(0, 30));
  RunTail tail(events());
  tail.read_on();
  EXPECT_EQ(tail.step(), 0);
  append_text(line.substr(30));
  tail.read_on();
  EXPECT_EQ(tail.step(), 10);
}

TEST_F(RunTailTest, ReadsAFewBytesAtATimeAndStillAll) {
  append(start());
  for (int i = 1; i <= 50; ++i) append(step(i));
  RunTail tail(events());
  tail.read_on(700);
  EXPECT_LT(tail.step().value_or(0), 50);
  for (int i = 0; i < 100; ++i) tail.read_on(700);
  EXPECT_EQ(tail.step(), 50);
}

TEST_F(RunTailTest, BeginsAnewWithAResumeAndAStart) {
  append(start());
  append(step(60));
  append({{"kind", "resume"}, {"step", 40}});
  RunTail tail(events());
  tail.read_on();
  EXPECT_EQ(tail.step(), 40);
  append(start(40));
  append(step(50, 1));
  tail.read_on();
  EXPECT_EQ(tail.step(), 50);
  EXPECT_DOUBLE_EQ(tail.seconds_left().value(), 50);
}

TEST_F(RunTailTest, ReadsAFileThatTookTheFirstOnesPlace) {
  append(start());
  append(step(60));
  RunTail tail(events());
  tail.read_on();
  std::filesystem::remove(events());
  append(start());
  append(step(5));
  tail.read_on();
  EXPECT_EQ(tail.step(), 5);
}

TEST_F(RunTailTest, PassesDamageOver) {
  append_text("no json\n{\"kind\":\"start\"\n[1]\n\n{\"kind\":\"step\",\"step\":1e300}\n");
  append_text("{\"kind\":\"step\",\"step\":-4}\n{\"kind\":\"step\"}\n");
  append_text("{\"kind\":\"step\",\"step\":7,\"step_s\":null,\"units_per_s\":null}\n");
  RunTail tail(events());
  tail.read_on();
  EXPECT_EQ(tail.step(), 7);
  EXPECT_FALSE(tail.units_per_s());
  EXPECT_FALSE(tail.seconds_left());
}

TEST_F(RunTailTest, IsNotHeldUpByAPipe) {
  ASSERT_EQ(mkfifo(events().c_str(), 0600), 0);
  RunTail tail(events());
  tail.read_on();
  EXPECT_FALSE(tail.step());
}

}  // namespace
}  // namespace lockstep
