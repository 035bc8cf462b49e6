// Ranks of Lockstep's runs, found in a /proc that the test writes.
#include "tools/monitor/own_runs.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/fake_clock.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class OwnRunsTest : public ::testing::Test {
 protected:
  OwnRunsTest() {
    fs::create_directories(run());
    write_file_atomic(run() / "run.json", "{}");
    append({{"kind", "start"}, {"step", 0}, {"total_steps", 40}, {"unit", "tokens"}});
    append_step(10);
  }
  fs::path run() const { return folder_.path() / "runs" / "first-try"; }
  fs::path proc() const { return folder_.path() / "proc"; }
  void append(const json& event) const {
    std::ofstream(run() / "events.jsonl", std::ios::app) << event.dump() << "\n";
  }
  void append_step(int number) const {
    append({{"kind", "step"}, {"step", number}, {"step_s", 2.0}, {"units_per_s", 1500.0}});
  }
  void process(int pid, const std::vector<std::string>& words) const {
    fs::create_directories(proc() / std::to_string(pid) / "fd");
    write_file_atomic(proc() / std::to_string(pid) / "cmdline",
                      join(words, std::string(1, '\0')) + std::string(1, '\0'));
  }
  TemporaryDirectory folder_;
  FakeClock clock_;
  OwnRuns runs_{clock_, proc()};
};

TEST_F(OwnRunsTest, KnowsARankByItsCommandLine) {
  process(7, {"/opt/lockstep/lockstep-worker", "train", "--run", run()});
  const auto found = runs_.of(7);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "first-try");
  EXPECT_EQ(found->path, run().string());
  EXPECT_EQ(found->job, "train");
  EXPECT_EQ(found->step, 10);
  EXPECT_EQ(found->total_steps, 40);
  EXPECT_EQ(found->units_per_s, 1500);
  EXPECT_EQ(found->unit, "tokens");
  EXPECT_EQ(found->eta_s, 60);
  EXPECT_EQ(run_text(*found), "first-try 10/40 1.5k tok/s eta 1m");
}

TEST_F(OwnRunsTest, KnowsRankZeroOfAnotherLauncherByItsOpenFiles) {
  process(7, {"lockstep-worker", "train", "textgen", "data.path=x"});
  EXPECT_FALSE(runs_.of(7));
  fs::create_symlink(run() / "events.jsonl", proc() / "7" / "fd" / "12");
  const auto found = runs_.of(7);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "first-try");
  EXPECT_EQ(found->step, 10);
}

TEST_F(OwnRunsTest, KnowsOtherRanksOfAnotherLauncherByTheirParent) {
  const auto child = [&](int pid, int parent, const char* program = "lockstep-worker") {
    process(pid, {program, "train", "textgen", "data.path=x"});
    write_file_atomic(proc() / std::to_string(pid) / "stat",
                      cat(pid, " (lockstep (w)) S ", parent, " 1 1"));
  };
  child(7, 5);
  child(8, 5);
  child(9, 6);
  child(10, 5, "python");
  fs::create_directories(proc() / "5/task/5");
  fs::create_directories(proc() / "5/task/55");
  write_file_atomic(proc() / "5/task/5/children", "10 99 ");
  write_file_atomic(proc() / "5/task/55/children", "8 7 ");
  fs::create_symlink(run() / "events.jsonl", proc() / "10" / "fd" / "3");  // who only reads it
  EXPECT_FALSE(runs_.of(8));
  fs::create_symlink(run() / "events.jsonl", proc() / "7" / "fd" / "12");
  ASSERT_TRUE(runs_.of(8));
  EXPECT_EQ(runs_.of(8)->step, 10);
  EXPECT_FALSE(runs_.of(9));  // another launcher's
  EXPECT_FALSE(runs_.of(10));
  // Two runs of one shell: whose the third rank is cannot be told.
  const fs::path second = folder_.path() / "runs/second-try";
  fs::create_directories(second);
  write_file_atomic(second / "run.json", "{}");
  write_file_atomic(second / "events.jsonl", "");
  child(11, 5);
  write_file_atomic(proc() / "5/task/55/children", "8 7 11 ");
  fs::create_symlink(second / "events.jsonl", proc() / "11" / "fd" / "3");
  EXPECT_FALSE(runs_.of(8));
  EXPECT_EQ(runs_.of(7)->name, "first-try");
}

TEST_F(OwnRunsTest, TakesOtherProgramsForNone) {
  process(7, {"python", "train.py", "--run", run()});
  process(8, {"lockstep-worker"});
  process(9, {"lockstep-worker", "describe"});
  process(10, {"lockstep-worker", "train", "--run"});
  process(11, {"lockstep-worker", "train", "--run", "relative/path"});
  process(12, {});
  for (int pid = 7; pid <= 13; ++pid) EXPECT_FALSE(runs_.of(pid)) << pid;
}

TEST_F(OwnRunsTest, NamesOtherJobsWithoutSteps) {
  process(7, {"lockstep-worker", "evaluate", "--run", run(), "--best"});
  const auto found = runs_.of(7);
  ASSERT_TRUE(found);
  EXPECT_EQ(run_text(*found), "first-try evaluate");
  EXPECT_FALSE(found->step);
}

TEST_F(OwnRunsTest, ReadsTheEventsOnceASecond) {
  process(7, {"lockstep-worker", "train", "--run", run()});
  process(8, {"lockstep-worker", "train", "--run", run()});
  EXPECT_EQ(runs_.of(7)->step, 10);
  append_step(20);
  clock_.sleep_s(0.5);
  EXPECT_EQ(runs_.of(8)->step, 10);
  clock_.sleep_s(0.6);
  EXPECT_EQ(runs_.of(8)->step, 20);
}

TEST_F(OwnRunsTest, NamesARunWhoseEventsCannotBeRead) {
  process(7, {"lockstep-worker", "train", "--run", "/nonexistent/runs/gone"});
  const auto found = runs_.of(7);
  ASSERT_TRUE(found);
  EXPECT_EQ(run_text(*found), "gone");
}

}  // namespace
}  // namespace lockstep
