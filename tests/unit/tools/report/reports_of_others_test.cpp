// Three reports of others, typed in: each called something faster, and none of them could know.
#include "report_fixtures.h"

#include "checkout_paths.h"
#include "core/base/files/files.h"
#include "fakes/error_of.h"
#include "tools/report/facts/facts_file.h"

#include <fstream>

namespace lockstep {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Comparison compared(const std::string& a, const std::string& b,
                    const CompareOptions& options = {}) {
  const std::filesystem::path folder =
      std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests/data/reports";
  Trial of_a = read_facts_file(folder / (a + ".toml")),
        of_b = read_facts_file(folder / (b + ".toml"));
  TrialGroup side_a{.name = of_a.name, .trials = {of_a}},
      side_b{.name = of_b.name, .trials = {of_b}};
  return compare(std::move(side_a), std::move(side_b), options);
}

// "7.22 s per window against 0.83: 8.7 × faster", with twice the trees and leaves.
TEST(ReportsOfOthers, ASubsetOfALargerBatchAgainstABatchOfItsOwn) {
  const Comparison found = compared("teachers-baseline", "teachers-experiment");
  EXPECT_EQ(found.conclusion, Conclusion::not_comparable);
  EXPECT_THAT(found.verdict, HasSubstr("jobs_beside 0 against 540"));
  EXPECT_THAT(flag_names(found), Contains("subset_of_a_larger_batch"));
  EXPECT_THAT(flag_names(found), Contains("faster_with_more_work"));
  EXPECT_THAT(flag_names(found), Contains("less_memory_with_more_work"));
  EXPECT_THAT(flag_names(found), Contains("idle_device"));
  ASSERT_EQ(found.counts.size(), 1U);
  EXPECT_EQ(found.counts[0].conclusion, Conclusion::inconclusive) << "2 of 36 against 0 of 36";
  EXPECT_THAT(found.counts[0].text, HasSubstr("2 of 36 against 0 of 36"));
  EXPECT_EQ(row(found, "wall_s").conclusion, Conclusion::not_comparable);
}

// The same, once somebody has looked into the models: what was asked for never reached them.
TEST(ReportsOfOthers, ParametersThatNeverReachedTheTrainerAreNamed) {
  const Comparison found = compared("teachers-baseline-used", "teachers-experiment-used");
  EXPECT_THAT(flag_names(found), Contains("asked_for_and_not_used"));
  for (const RedFlag& flag : found.flags)
    if (flag.name == "asked_for_and_not_used") {
      EXPECT_THAT(flag.text, HasSubstr("asked.n_estimators 1,000 against 500, used 100"));
    }
  EXPECT_EQ(found.conclusion, Conclusion::not_comparable);
}

// "2.5 × faster": 20 h for 50 epochs against 8 h for 40.
TEST(ReportsOfOthers, FewerEpochsAreLessWork) {
  const Comparison found = compared("epochs-before", "epochs-after");
  EXPECT_EQ(found.conclusion, Conclusion::not_comparable);
  EXPECT_THAT(found.verdict, HasSubstr("epochs 40 against 50"));
  EXPECT_NEAR(1 / row(found, "train_s").contrast.interval.estimate, 2.5, 1e-9);
  EXPECT_NEAR(1 / row(found, "train_s", "epochs").contrast.interval.estimate, 2.0, 1e-9)
      << "2.0 × per epoch, and named so";
  EXPECT_EQ(row(found, "train_s", "epochs").what.title, "training time per epoch");
}

// "2 × faster": twice the batch per step, on two GPUs.
TEST(ReportsOfOthers, ALargerBatchAndMoreThanTheDevicesCanGive) {
  const Comparison found = compared("one-gpu", "two-gpus");
  EXPECT_EQ(found.conclusion, Conclusion::not_comparable);
  EXPECT_THAT(found.verdict, HasSubstr("global_batch 64 against 32"));
  EXPECT_THAT(found.verdict, HasSubstr("2 x NVIDIA A100 against 1 x NVIDIA A100"));
  EXPECT_THAT(flag_names(found), Contains("above_number_of_devices"));
  EXPECT_THAT(flag_names(found), Contains("faster_with_more_work"));
}

class FactsFile : public ::testing::Test {
 protected:
  std::string error(const std::string& text) {
    std::ofstream(folder.path() / "f.toml") << text;
    return error_of([&] { read_facts_file(folder.path() / "f.toml"); });
  }
  const TemporaryDirectory folder;
};

TEST_F(FactsFile, NamesTheLineOfWhatIsWrong) {
  EXPECT_THAT(error("name = \"x\"\n"), HasSubstr("does not say lockstep_facts = 1"));
  EXPECT_THAT(error(""), HasSubstr("does not say lockstep_facts = 1"));
  EXPECT_THAT(error("lockstep_facts = 2\n"), HasSubstr("must be 1"));
  EXPECT_THAT(error("lockstep_facts = 1\n[counts]\njobs = 1.5\n"), HasSubstr("line 3"));
  EXPECT_THAT(error("lockstep_facts = 1\n[counts]\njobs = 1e300\n"), HasSubstr("a whole number"));
  EXPECT_THAT(error("lockstep_facts = 1\n[measured]\nwall_s = \"x\"\n"),
              HasSubstr("must be a number"));
  EXPECT_THAT(error("lockstep_facts = 1\n[works]\na = 1\n"), HasSubstr("no table"));
  EXPECT_THAT(error("lockstep_facts = 1\n[counts]\njobs = 3\nfailed = 4\n"),
              HasSubstr("more jobs are failed"));
  EXPECT_THAT(error("lockstep_facts = 1\n[better]\nauc = \"up\"\n"), HasSubstr("lower"));
  EXPECT_THAT(error("lockstep_facts = \n"), HasSubstr("f.toml"));
}

TEST_F(FactsFile, QuantitiesAreKnownByTheEndingsOfTheirNames) {
  std::ofstream(folder.path() / "f.toml")
      << "lockstep_facts = 1\n[work]\nused.a = 3\n[place]\n"
         "devices = \"4 x X\"\n[measured]\nwall_s = 3\n"
         "peak_bytes = 5\nauc = 0.7\nsamples_per_s = 2\n"
         "busy_percent.\"GPU 0\" = 1\n[better]\nauc = \"higher\"\n";
  const Trial trial = read_facts_file(folder.path() / "f.toml");
  EXPECT_TRUE(trial.find("wall_s")->total);
  EXPECT_EQ(trial.find("peak_bytes")->aspect, Aspect::memory);
  EXPECT_EQ(trial.find("auc")->better, Better::higher);
  EXPECT_EQ(trial.find("samples_per_s")->better, Better::higher);
  EXPECT_EQ(trial.number("device_count"), 4);
  EXPECT_EQ(trial.value("options"), "listed");
  EXPECT_EQ(trial.value("busy_percent")["GPU 0"], 1);
}

// A window whose parameter was left out of a table has NaN there.
TEST_F(FactsFile, AParameterThatIsNoNumberIsTheSameOnBothSides) {
  const auto trial_of = [&](const std::string& leaves) {
    std::ofstream(folder.path() / "f.toml")
        << "lockstep_facts = 1\n[work]\nused.leaves = " << leaves
        << "\nused.bounds = [-inf, nan]\n[measured]\nauc = 0.7\n";
    return read_facts_file(folder.path() / "f.toml");
  };
  const auto compared = [](const Trial& a, const Trial& b) {
    return compare({.name = "a", .trials = {a}}, {.name = "b", .trials = {b}}, {});
  };
  const Trial none = trial_of("nan"), all = trial_of("inf"), some = trial_of("31");
  EXPECT_TRUE(compared(none, none).differences.empty());
  EXPECT_TRUE(compared(all, all).differences.empty());
  const Comparison found = compared(none, some);
  ASSERT_EQ(found.differences.size(), 1);
  EXPECT_EQ(found.differences[0].text, "used.leaves 31 against NaN");
  EXPECT_EQ(none.value("used.leaves"), "NaN") << "JSON has no such number, and null is unknown";
  EXPECT_EQ(all.value("used.bounds"), nlohmann::json({"-inf", "NaN"}));
}

}  // namespace
}  // namespace lockstep
