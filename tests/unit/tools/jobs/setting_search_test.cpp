#include "tools/jobs/search/setting_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const SearchRoom plenty{.jobs = {100'000, 100'000, 100'000}, .per_device = 100};

SettingTrial measured(const JobSetting& setting, double jobs_per_minute,
                      std::vector<double> busy = {}) {
  SettingTrial trial{.setting = setting,
                     .seconds = 600,
                     .done = static_cast<std::int64_t>(10 * jobs_per_minute),
                     .together = 1e6};
  for (std::size_t i = 0; i < busy.size(); ++i)
    trial.gpus.push_back({.index = static_cast<int>(i),
                          .busy_percent = busy[i],
                          .sm_percent = std::nullopt,
                          .samples = 9});
  return trial;
}

using Machine = std::function<SettingTrial(const JobSetting&)>;

// To its end. What was tried, as "AT_ONCExCPUS".
std::vector<std::string> run(SettingSearch& search, const Machine& machine,
                             const SearchRoom& room = plenty) {
  std::vector<std::string> tried;
  while (const auto next = search.next(room)) {
    std::string name = std::to_string(next->at_once) + "x" + std::to_string(int(next->cpus));
    if (next->combination > 0) name = std::to_string(next->combination) + ": " + name;
    tried.push_back(name);
    search.add(machine(*next));
  }
  return tried;
}

Expectation at_least(const char* percent) {
  return Expectation(std::string("gpu_activity>=") + percent + "%");
}

TEST(SettingSearch, JobsThatFillTheirCoresStayAsTheyAre) {
  SettingSearch search({.cores = 4}, {});
  const Machine full = [](const JobSetting& setting) {
    return measured(setting, 60.0 * std::min(4, setting.at_once));
  };
  EXPECT_THAT(run(search, full), ElementsAre("4x1", "8x1", "2x2"));
  EXPECT_EQ(search.choice()->setting, (JobSetting{.at_once = 4, .cpus = 1}));
  EXPECT_EQ(search.choice_text(),
            "chosen: 4 jobs at once, 1 core each, as the batch has it: nothing that was tried is "
            "better; within the noise, as good: 8 jobs at once, 1 core each");
}

TEST(SettingSearch, JobsThatWaitRunManyAtOnce) {
  SettingSearch search({.cores = 2}, {});
  EXPECT_THAT(run(search, [](const JobSetting& s) { return measured(s, 60.0 * s.at_once); }),
              ElementsAre("2x1", "4x1", "8x1"))
      << "four for each core at most";
  EXPECT_THAT(search.choice_text(),
              EndsWith("8 jobs at once, 1 core each: 4.00 x the jobs per minute of the first"));
}

TEST(SettingSearch, JobsThatHinderEachOtherGetMoreCoresInstead) {
  SettingSearch search({.cores = 8}, {});
  const Machine memory_bound = [](const JobSetting& setting) {
    return measured(setting, 100 * setting.cpus / (1 + 0.6 * setting.at_once));
  };
  EXPECT_THAT(run(search, memory_bound), ElementsAre("8x1", "16x1", "4x2", "2x4", "1x8"));
  EXPECT_EQ(search.choice()->setting, (JobSetting{.at_once = 1, .cpus = 8}));
}

TEST(SettingSearch, SharesDevicesAsLongAsItPaysAndThenGivesEachJobMoreCores) {
  SettingSearch search({.cores = 16, .devices = 2}, {});
  const Machine machine = [](const JobSetting& setting) {
    return measured(setting, 10.0 * std::min(4, setting.at_once) * std::min(2.0, setting.cpus),
                    {50, 50});
  };
  EXPECT_THAT(run(search, machine), ElementsAre("1x1", "2x1", "4x1", "8x1", "4x2", "2x2"));
  EXPECT_EQ(search.choice()->setting, (JobSetting{.at_once = 4, .cpus = 2}));
}

TEST(SettingSearch, BeginsWithNoMoreJobsThanHaveCoresAsTheBatchDoes) {
  SettingSearch search({.cores = 4, .devices = 2, .per_device = 4}, {});
  EXPECT_EQ(search.first(0), (JobSetting{.at_once = 2, .cpus = 1}));
  SettingSearch of_few_cores({.cores = 1, .devices = 2, .per_device = 4}, {});
  EXPECT_EQ(of_few_cores.first(0).at_once, 1);
}

TEST(SettingSearch, TakesTheFastestThatMeetsTheTarget) {
  SettingSearch search({.cores = 64, .devices = 2}, {at_least("40")});
  // More at once are slower from two on, and keep the devices busier.
  const Machine machine = [](const JobSetting& setting) {
    return measured(setting, setting.at_once == 2 ? 30 : 20.0 - setting.at_once,
                    {12.0 * setting.at_once, 11.0 * setting.at_once});
  };
  run(search, machine);
  EXPECT_EQ(search.choice()->setting.at_once, 4);
  EXPECT_THAT(search.choice_text(), HasSubstr("; it meets gpu_activity>=40%"));
}

TEST(SettingSearch, WhereNoneMeetsTheTargetTakesTheNearestAndSaysSo) {
  SettingSearch search({.cores = 4, .devices = 1}, {at_least("90")});
  run(search, [](const JobSetting& s) { return measured(s, 10, {20.0 + 4 * s.at_once}); });
  EXPECT_EQ(search.choice()->setting.at_once, 16) << "Packing::most_per_device";
  EXPECT_THAT(search.choice_text(),
              HasSubstr("; none meets gpu_activity>=90%, and this one comes nearest"));
}

TEST(SettingSearch, WhatWasNotMeasuredMeetsNothing) {
  SettingSearch search({.cores = 4, .devices = 1}, {at_least("1")});
  run(search, [](const JobSetting& setting) { return measured(setting, 10); });
  EXPECT_THAT(search.choice_text(), HasSubstr("none meets"));
}

TEST(SettingSearch, ASettingThatRunsOutOfMemoryIsNotChosenNorAnyWithMoreAtOnce) {
  SettingSearch search({.cores = 64, .devices = 1}, {});
  const Machine machine = [](const JobSetting& setting) {
    SettingTrial trial = measured(setting, 10.0 * setting.at_once);
    trial.out_of_memory = setting.at_once >= 4;
    return trial;
  };
  EXPECT_THAT(run(search, machine), ElementsAre("1x1", "2x1", "4x1", "2x2"));
  EXPECT_EQ(search.choice()->setting.at_once, 2);
}

TEST(SettingSearch, TriesFewerWhereTheFirstSettingHasTooLittleMemory) {
  SettingSearch search({.cores = 64, .devices = 1, .per_device = 4}, {});
  const Machine machine = [](const JobSetting& setting) {
    SettingTrial trial = measured(setting, 10.0);
    trial.out_of_memory = setting.at_once == 4;
    return trial;
  };
  EXPECT_THAT(run(search, machine), ElementsAre("4x1", "2x1", "1x1", "2x2"));
  EXPECT_EQ(search.choice()->setting.at_once, 2);
}

TEST(SettingSearch, WhereNothingIsDoneChoosesNothing) {
  SettingSearch search({.cores = 1}, {});
  run(search, [](const JobSetting& setting) { return measured(setting, 0); });
  EXPECT_EQ(search.choice(), nullptr);
  EXPECT_THAT(search.choice_text(), HasSubstr("no setting is chosen"));
}

TEST(SettingSearch, TriesNoMoreThanMemoryHolds) {
  const Machine machine = [](const JobSetting& setting) {
    SettingTrial trial = measured(setting, 10.0 * setting.at_once);
    trial.job_bytes = 1 << 30;
    return trial;
  };
  SettingSearch of_device({.cores = 64, .devices = 1}, {});
  const SearchRoom small{.jobs = {1000}, .per_device = 3};
  run(of_device, machine, small);
  EXPECT_EQ(of_device.choice()->setting.at_once, 2);
  EXPECT_EQ(of_device.untried_text(small),
            "not tried: 4 jobs per device, 1 core each (memory does not hold it)");
  SettingSearch of_host({.cores = 2}, {});
  run(of_host, machine, {.jobs = {1000}, .memory_bytes = std::int64_t{5} << 30});
  EXPECT_EQ(of_host.choice()->setting.at_once, 4);
}

TEST(SettingSearch, LeavesAsManyJobsAsATrialTakes) {
  SettingSearch search({.cores = 2}, {});
  EXPECT_EQ(search.next({.jobs = {7}}), std::nullopt);
  ASSERT_TRUE(search.next({.jobs = {8}}));
  search.add(measured({.at_once = 2}, 1));
  EXPECT_EQ(search.next({.jobs = {7}}), std::nullopt);
  EXPECT_EQ(
      search.untried_text({.jobs = {7}}),
      "not tried: 4 jobs at once, 1 core each (too few jobs are left); 1 job at once, 2 cores "
      "each (too few jobs are left)");
  search = SettingSearch({.cores = 2}, {});
  search.add(measured({.at_once = 2}, 60'000));  // 2000 in the two seconds of a trial
  EXPECT_EQ(search.next({.jobs = {3999}}), std::nullopt);
  EXPECT_TRUE(search.next({.jobs = {8001}}));
}

TEST(SettingSearch, MoreAtOnceAreNotTriedWhereFewerRanThanMight) {
  SettingSearch search({.cores = 2}, {});
  const Machine machine = [](const JobSetting& setting) {
    SettingTrial trial = measured(setting, 60);
    trial.together = 1.2;
    return trial;
  };
  EXPECT_THAT(run(search, machine), ElementsAre("2x1", "1x2"));
  EXPECT_THAT(search.text(search.trials()[0]), HasSubstr("only 1.2 ran at once on average"));
}

TEST(SettingSearch, ChoosesAmongCombinationsFirst) {
  SearchSpace space{.combinations = {{"leaves=3", 1}, {"leaves=31", 1}, {"leaves=255", 1}},
                    .cores = 4,
                    .devices = 1};
  SettingSearch search(space, {at_least("40")});
  const Machine machine = [](const JobSetting& setting) {
    return measured(setting, 60.0 / (1 + setting.combination), {30.0 * setting.combination});
  };
  EXPECT_THAT(run(search, machine), ElementsAre("1x1", "1: 1x1", "2: 1x1", "2: 2x1", "2: 1x2"));
  EXPECT_THAT(search.choice_text(), AllOf(HasSubstr("chosen: leaves=255: 1 job per device, 1 core "
                                                    "each: 0.33 x"),
                                          HasSubstr("it meets")));
}

TEST(SettingSearch, PartsOfCoresStay) {
  SearchSpace space{.combinations = {{"", 0.5}}, .cores = 2};
  SettingSearch search(space, {});
  run(search, [](const JobSetting& s) { return measured(s, 60.0 * s.at_once); });
  EXPECT_EQ(search.trials()[0].setting, (JobSetting{.at_once = 4, .cpus = 0.5}));
  EXPECT_EQ(search.choice()->setting, (JobSetting{.at_once = 8, .cpus = 0.5}));
}

TEST(SettingSearch, ANumberOfFailuresIsNoTargetOfATrialAndAShareIs) {
  SettingSearch search({.cores = 2}, {Expectation("failed<=3"), Expectation("failed<=10%")});
  run(search, [](const JobSetting& setting) {
    SettingTrial trial = measured(setting, 60.0 * setting.at_once);
    trial.failed = setting.at_once > 2 ? trial.done : 5;
    return trial;
  });
  EXPECT_EQ(search.choice()->setting.at_once, 2);
  EXPECT_THAT(search.choice_text(),
              AllOf(HasSubstr("it meets failed<=10%"), Not(HasSubstr("failed<=3"))));
}

TEST(SettingSearch, GoesOnFromWhatWasKept) {
  const SearchSpace space{.cores = 8, .devices = 2};
  const Machine machine = [](const JobSetting& s) {
    return measured(s, 10.0 * std::min(4, s.at_once), {20.0 * s.at_once, 10});
  };
  SettingSearch whole(space, {});
  const std::vector<std::string> all = run(whole, machine);
  ASSERT_GE(all.size(), 4u);
  SettingSearch first(space, {});
  for (int i = 0; i < 2; ++i) first.add(machine(*first.next(plenty)));
  SettingSearch second(space, {});
  ASSERT_TRUE(second.restore(first.json()));
  EXPECT_THAT(run(second, machine), ::testing::ElementsAreArray(all.begin() + 2, all.end()));
  EXPECT_EQ(second.json(), whole.json());
}

TEST(SettingSearch, TrialsOfAnotherMachineOrDamagedOnesAreNotTaken) {
  SettingSearch search({.cores = 8}, {});
  search.add(measured({.at_once = 8}, 10));
  const std::string kept = search.json();
  EXPECT_FALSE(SettingSearch({.cores = 4}, {}).restore(kept));
  EXPECT_FALSE(SettingSearch({.cores = 8, .devices = 1}, {}).restore(kept));
  SettingSearch other({.cores = 8}, {});
  for (const char* const text : {"", "{}", "[]", "{\"space\": 1}"})
    EXPECT_FALSE(other.restore(text));
  std::string damaged = kept;
  damaged.replace(damaged.find("\"combination\":0"), 15, "\"combination\":7");
  EXPECT_FALSE(other.restore(damaged));
  EXPECT_THAT(other.trials(), IsEmpty());
  EXPECT_TRUE(other.restore(kept));
}

TEST(SettingSearch, ATrialIsALine) {
  SettingSearch search({.cores = 8, .devices = 2}, {});
  SettingTrial trial = measured({.at_once = 4, .cpus = 2}, 57, {41.4, 40});
  trial.noise = 0.034;
  trial.failed = 1;
  EXPECT_EQ(search.text(trial),
            "tried 4 jobs per device, 2 cores each: 57 jobs per minute (+- 3 %), 571 jobs in 600.0 "
            "s, GPU 0 busy 41 %, GPU 1 busy 40 %, 1 failed");
}

}  // namespace
}  // namespace lockstep
