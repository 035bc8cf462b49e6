// Batches job by job: first whether the work was the same.
#include "tools/report/facts/batch_facts.h"

#include "report_fixtures.h"

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "fakes/written_runs.h"
#include "tools/jobs/analysis/analysis.h"
#include "tools/jobs/ledger/ledger.h"
#include "tools/report/facts/batch_repeats.h"
#include "tools/report/reports/batch_report.h"

#include <fstream>

namespace lockstep {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

struct MadeJob {
  std::string symbol, window;
  double begin = 0, seconds = 1;
  JobState state = JobState::done;
  std::string leaves_asked = "127";
  double leaves_used = 31;
  double auc = 0.6;
  std::string data = "d";
  std::string model{};                                      // hash; "" the job does not say
  std::vector<std::pair<std::string, std::string>> more{};  // parameters
  double seed = 0;                                          // that it used; 0: it does not say
  std::string process = "s";                                // of the batch, that started it
};

class Batches : public ::testing::Test {
 protected:
  // A folder as lockstep batch leaves it.
  Trial batch(const std::string& name, const std::vector<MadeJob>& jobs,
              const std::string& machine = R"({"cpu":"Some CPU","host":"box","cores":8})") {
    const BatchFolder batch{folder.path() / name};
    std::filesystem::create_directories(batch.path);
    std::ofstream(batch.record()) << "{}";
    {
      Ledger ledger = Ledger::open(batch.ledger());
      ledger.add(list_of(jobs), true);
      if (!machine.empty()) ledger.set_fact("machine", machine);
      const Transaction all(ledger.database());
      for (std::size_t i = 0; i < jobs.size(); ++i)
        run(ledger, static_cast<std::int64_t>(i + 1), jobs[i]);
      const_cast<Transaction&>(all).commit();
    }
    return read_batch_facts(batch);
  }

  static JobList list_of(const std::vector<MadeJob>& jobs) {
    JobList list;
    for (const MadeJob& made : jobs) {
      Job job;
      job.name = made.symbol + "_" + made.window + "_" + made.leaves_asked;
      for (const auto& [name, value] : made.more) job.name += "," + name + "=" + value;
      job.key = job.name;
      job.folder = "/";
      job.parameters = {{"symbol", made.symbol}, {"window", made.window}};
      job.parameters.insert(job.parameters.end(), made.more.begin(), made.more.end());
      job.command = {"train", "symbol=" + made.symbol, "num_leaves=" + made.leaves_asked};
      list.jobs.push_back(job);
    }
    return list;
  }

  static void run(Ledger& ledger, std::int64_t id, const MadeJob& made) {
    std::vector<Attempt> attempts{{.job = id, .supervisor = made.process, .slot = 0}};
    ledger.begin(attempts);
    AttemptEnd end{
        .outcome = made.state == JobState::done ? AttemptOutcome::done : AttemptOutcome::failed,
        .started = 1e6 + made.begin,
        .ended = 1e6 + made.begin + made.seconds};
    if (made.state == JobState::done)
      end.results.values = {{"used.num_leaves", made.leaves_used},
                            {"data", made.data},
                            {"rows.train", 60.0},
                            {"test.auc", made.auc}};
    if (made.state == JobState::done && !made.model.empty())
      end.results.values.push_back({"model_hash", made.model});
    if (made.state == JobState::done && made.seed > 0)
      end.results.values.push_back({"used.seed", made.seed});
    ledger.end(attempts[0], end, made.state, 0);
  }

  static Comparison against(Trial a, Trial b, const CompareOptions& options = {}) {
    TrialGroup side_a{.name = a.name, .trials = {std::move(a)}},
        side_b{.name = b.name, .trials = {std::move(b)}};
    return compare(std::move(side_a), std::move(side_b), options);
  }

  // Symbols × windows, four at once.
  static std::vector<MadeJob> grid(int symbols, int windows, double seconds) {
    std::vector<MadeJob> jobs;
    for (int window = 0; window < windows; ++window)
      for (int symbol = 0; symbol < symbols; ++symbol) {
        const auto number = static_cast<double>(jobs.size());
        jobs.push_back({.symbol = "S" + std::to_string(symbol),
                        .window = "w" + std::to_string(window),
                        .begin = std::floor(number / 4) * seconds,
                        .seconds = seconds,
                        .data = "d" + std::to_string(symbol * 100 + window)});
      }
    return jobs;
  }
  static std::vector<MadeJob> asked(std::vector<MadeJob> jobs, const std::string& leaves,
                                    double used) {
    for (MadeJob& job : jobs) {
      job.leaves_asked = leaves;
      job.leaves_used = used;
    }
    return jobs;
  }

  const TemporaryDirectory folder;
};

// Jobs that share cores take longer, so the number of slots is a difference, and often the
// question.
TEST_F(Batches, OtherSlotsAreNamedAndForbidNoVerdict) {
  const auto with = [&](const std::string& name, const std::string& slots) {
    return batch(name, grid(2, 2, 1), R"({"cpu":"Some CPU","cores":8,"slots":)" + slots + "}");
  };
  const auto slots_of = [](const Comparison& found) {
    for (const Difference& difference : found.differences)
      if (difference.key == "slots") return difference.text;
    return std::string();
  };
  const Comparison other = against(with("four", "4"), with("one", "1"));
  EXPECT_EQ(slots_of(other), "slots 1 against 4");
  EXPECT_NE(other.conclusion, Conclusion::not_comparable);
  EXPECT_EQ(slots_of(against(with("a", "4"), with("b", "4"))), "");
  EXPECT_EQ(slots_of(against(with("c", "4"), with("d", "\"as the cores allow\""))),
            "slots as the cores allow against 4");
  EXPECT_EQ(slots_of(against(with("g", "4"), batch("h", grid(2, 2, 1)))), "")
      << "earlier batches do not tell";
  CompareOptions varied;
  varied.varied = {"slots"};
  EXPECT_NO_THROW(against(batch("e", grid(2, 2, 1)), batch("f", grid(2, 2, 1)), varied));
}

// The report of WORKLOADS, section 4: 36 windows of a batch of 576, against a batch of 36.
TEST_F(Batches, ASubsetCutOutOfALargerBatchIsNotComparable) {
  std::vector<MadeJob> experiment = asked(grid(6, 6, 3.3), "255", 31);
  experiment[3].state = experiment[7].state = JobState::failed;
  const Comparison found = against(batch("96", grid(96, 6, 2.8)), batch("6", experiment));
  EXPECT_EQ(found.conclusion, Conclusion::not_comparable);
  EXPECT_THAT(found.verdict, HasSubstr("jobs 36 against 576"));
  EXPECT_THAT(found.verdict, HasSubstr("jobs_done 34 against 36"));
  EXPECT_EQ(found.flags[0].name, "subset_of_a_larger_batch");
  EXPECT_THAT(found.flags[0].text, HasSubstr("456 other jobs ran beside it"));
  EXPECT_THAT(flag_names(found), Contains("asked_for_and_not_used"));
  EXPECT_EQ(found.jobs.matched, 36);
  EXPECT_EQ(found.jobs.only_a, 540);
  EXPECT_EQ(found.jobs.by, "parameters");
  ASSERT_EQ(found.counts.size(), 1U);
  EXPECT_EQ(found.counts[0].conclusion, Conclusion::inconclusive);
  EXPECT_EQ(row(found, "job_s").conclusion, Conclusion::not_comparable);
}

// Fisher's test of 16 against 10 of 36 would say p = 0.21: it takes the jobs for others.
TEST_F(Batches, FailuresOfTheSameJobsAreTestedAsPairs) {
  std::vector<MadeJob> a = grid(6, 6, 2), b = a;
  for (std::size_t i = 0; i < 10; ++i) a[i].state = b[i].state = JobState::failed;
  for (std::size_t i = 10; i < 16; ++i) b[i].state = JobState::failed;
  const Comparison found = against(batch("a", a), batch("b", b));
  ASSERT_EQ(found.counts.size(), 1U);
  const CountRow& failed = found.counts[0];
  EXPECT_EQ(failed.conclusion, Conclusion::worse);
  EXPECT_NEAR(failed.p, 2.0 / 64, 1e-12);
  EXPECT_EQ(failed.text,
            "more failed (16 of 36 against 10 of 36, McNemar's exact test of the 6 that differ: "
            "p = 0.031)");
  const nlohmann::json written = comparison_json(found)["counts"][0];
  EXPECT_EQ(written["only_a"], 0);
  EXPECT_EQ(written["only_b"], 6);
  EXPECT_EQ(written["test"], "McNemar's exact test");
}

TEST_F(Batches, OfTheSameWorkAreComparedJobByJob) {
  std::vector<MadeJob> slower = grid(6, 6, 2);
  slower[0].seconds = 2.2;
  for (MadeJob& job : slower) job.auc = 0.7;
  const Comparison found = against(batch("a", grid(6, 6, 2)), batch("b", slower));
  EXPECT_EQ(found.conclusion, Conclusion::inconclusive) << "one batch a side is one repeat";
  EXPECT_EQ(found.by, "wall_s");
  EXPECT_THAT(found.equal, Contains("data"));
  EXPECT_THAT(found.equal, Contains("used.num_leaves"));
  EXPECT_NEAR(row(found, "job_s").contrast.interval.estimate, (35 * 2 + 2.2) / 72, 1e-6);
  EXPECT_NEAR(row(found, "test.auc").contrast.interval.estimate, 0.1, 1e-9);
  ASSERT_EQ(found.jobs.rows.size(), 36U);
  EXPECT_EQ(found.jobs.rows[0].results.at("test.auc"), std::pair(0.6, 0.7));
  EXPECT_THAT(comparison_text(found, 100), HasSubstr("jobs of one batch are no repeats"));
}

TEST_F(Batches, RepeatedBatchesHaveAnInterval) {
  TrialGroup a{.name = "a", .trials = {}}, b{.name = "b", .trials = {}};
  for (int i = 0; i < 3; ++i) {
    a.trials.push_back(batch("a" + std::to_string(i), grid(2, 2, 2 + 0.01 * i)));
    b.trials.push_back(batch("b" + std::to_string(i), grid(2, 2, 3 + 0.01 * i)));
  }
  EXPECT_EQ(compare(a, b, {}).conclusion, Conclusion::slower);
}

// Ctrl-C, an hour, and resume.
TEST_F(Batches, TheTimeInWhichABatchWasStoppedIsNoneOfItsTime) {
  std::vector<MadeJob> resumed = grid(2, 2, 2);
  for (std::size_t i = 2; i < resumed.size(); ++i) {
    resumed[i].begin += 3602;
    resumed[i].process = "resumed";
  }
  for (std::size_t i = 0; i < 2; ++i) resumed[i].begin = 0;
  std::vector<MadeJob> whole = grid(2, 2, 2);
  for (std::size_t i = 2; i < whole.size(); ++i) whole[i].begin += 2;
  const Comparison found = against(batch("whole", whole), batch("halves", resumed));
  EXPECT_EQ(row(found, "wall_s").a, std::vector<double>{4});
  EXPECT_EQ(row(found, "wall_s").b, std::vector<double>{4});
  EXPECT_EQ(row(found, "jobs_at_once").b, std::vector<double>{2});
  EXPECT_THAT(found.verdict, HasSubstr("stopped once, for 3600.0 s against never"));
}

TEST_F(Batches, ParametersThatWereReallyUsedDecide) {
  const Comparison found =
      against(batch("a", grid(2, 2, 2)), batch("b", asked(grid(2, 2, 4), "255", 60)));
  EXPECT_EQ(found.conclusion, Conclusion::not_comparable);
  EXPECT_THAT(found.verdict, HasSubstr("used.num_leaves 60 against 31"));
  EXPECT_EQ(against(batch("c", grid(2, 2, 2)), batch("d", asked(grid(2, 2, 4), "255", 60)),
                    {.varied = {"used.num_leaves"}})
                .conclusion,
            Conclusion::inconclusive);
}

// 127 leaves against 255, of rows that fill 31 at most: two windows of 36 learnt something else.
TEST_F(Batches, ALimitThatIsNeverReachedIsTheFirstLine) {
  std::vector<MadeJob> a = grid(6, 6, 2), b = asked(grid(6, 6, 2), "255", 255);
  for (std::size_t i = 0; i < a.size(); ++i) a[i].model = b[i].model = "m" + std::to_string(i);
  b[3].model = b[5].model = "another";
  b[3].auc = 0.61;
  b[5].auc = 0.58;
  const Comparison found = against(batch("a", a), batch("b", b));
  ASSERT_THAT(flag_names(found), Contains("same_outcome"));
  const std::string text = comparison_text(found, 200);
  EXPECT_THAT(text, ::testing::StartsWith(
                        "! 34 of 36 jobs have the same model: there used.num_leaves 255 against 31 "
                        "changed nothing"));
  EXPECT_THAT(text, HasSubstr("test.auc is higher in b in 1 of 36 jobs, lower in 1, the same in 34 "
                              "(p = 1)"));
  EXPECT_THAT(comparison_text(found, 1000), HasSubstr("takes jobs to be independent"));
  EXPECT_THAT(found.equal, Not(Contains("options"))) << "used.num_leaves differs";
  const nlohmann::json jobs = comparison_json(found)["jobs"];
  EXPECT_EQ(jobs["rows"][0]["outcome"], "same model");
  EXPECT_EQ(jobs["rows"][3]["outcome"], "other");
  EXPECT_EQ(jobs["pairs"][0]["name"], "test.auc");
  EXPECT_EQ(jobs["pairs"][0]["same"], 34);
}

// Repeats by seed, named in another order on each side.
TEST_F(Batches, ALimitThatIsNeverReachedIsTheFirstLineOfGroupsTooAndNoMoreRepeatsAreAskedFor) {
  TrialGroup a{.name = "old", .trials = {}}, b{.name = "new", .trials = {}};
  const auto repeat = [&](const std::string& name, const std::string& leaves, int seed) {
    std::vector<MadeJob> jobs = asked(grid(6, 6, 2 + 0.3 * seed), leaves, std::stod(leaves));
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      jobs[i].model = "m" + std::to_string(i) + "-" + std::to_string(seed);
      jobs[i].auc = 0.6 + 0.05 * seed;
    }
    jobs[3].model = jobs[5].model = name;
    jobs[3].auc = leaves == "255" ? 0.9 : 0.6;
    return batch(name, jobs);
  };
  for (const int seed : {1, 2, 3}) a.trials.push_back(repeat(cat("a", seed), "127", seed));
  for (const int seed : {3, 1, 2}) b.trials.push_back(repeat(cat("b", seed), "255", seed));
  const Comparison found = compare(a, b, {.varied = {"used.num_leaves"}});
  const std::string text = comparison_text(found, 200);
  EXPECT_THAT(text, ::testing::StartsWith("! 34 of 36 jobs have the same model: there "
                                          "used.num_leaves 255 against 127 changed nothing"));
  EXPECT_THAT(text, HasSubstr("inconclusive: most jobs gave the same"));
  EXPECT_THAT(text, Not(HasSubstr("would need")));
  b.trials.erase(b.trials.begin());  // of seeds that one side alone has
  EXPECT_THAT(flag_names(compare(a, b, {})), Contains("same_outcome"));
}

// Each job of one seed has the same model on both sides, but for the first job.
class BatchesBySeed : public Batches {
 protected:
  Trial repeat(const std::string& name, const std::string& leaves, int seed, int model_of) {
    std::vector<MadeJob> jobs = asked(grid(2, 2, 2 + 0.1 * seed), leaves, std::stod(leaves));
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      jobs[i].seed = seed;
      jobs[i].model = cat("m", i, "-", model_of);
    }
    jobs[0].model = name;
    return batch(name, jobs);
  }
};

TEST_F(BatchesBySeed, SeedsThatBothSidesHaveAreRepeatsAndNoWork) {
  TrialGroup a{.name = "old", .trials = {}}, b{.name = "new", .trials = {}};
  for (const int seed : {1, 2, 3}) {
    a.trials.push_back(repeat(cat("a", seed), "127", seed, seed));
    b.trials.push_back(repeat(cat("b", seed), "255", seed, seed));
  }
  const Comparison found = compare(a, b, {});
  EXPECT_THAT(found.verdict, HasSubstr("not comparable: used.num_leaves 255 against 127"));
  EXPECT_THAT(found.verdict, Not(HasSubstr("seed")));
  EXPECT_THAT(found.equal, Contains("used.seed"));
  EXPECT_THAT(found.could_vary, ::testing::ElementsAre("used.num_leaves"));
  ASSERT_THAT(flag_names(found), Contains("same_outcome"));
  EXPECT_THAT(found.flags[0].text, HasSubstr("3 of 4 jobs have the same model: there "
                                             "used.num_leaves 255 against 127 changed nothing"));
  TrialGroup others{.name = "others", .trials = {}};
  for (const int seed : {4, 5, 6})
    others.trials.push_back(repeat(cat("o", seed), "127", seed, seed));
  const Comparison other_seeds = compare(a, others, {});
  EXPECT_NE(other_seeds.conclusion, Conclusion::not_comparable);
  EXPECT_THAT(other_seeds.verdict, Not(HasSubstr("seed")));
}

TEST_F(BatchesBySeed, ModelsOfAnotherSeedAreNotTheSame) {
  TrialGroup a{.name = "old", .trials = {}}, b{.name = "new", .trials = {}};
  for (const int seed : {1, 2, 3}) {
    a.trials.push_back(repeat(cat("a", seed), "127", seed, seed));
    b.trials.push_back(repeat(cat("b", seed), "255", seed, seed % 3 + 1));
  }
  EXPECT_THAT(flag_names(compare(a, b, {})), Not(Contains("same_outcome")));
}

TEST_F(BatchesBySeed, SeedsThatOneSideAloneHasDoNotCount) {
  TrialGroup a{.name = "old", .trials = {}}, b{.name = "new", .trials = {}};
  for (const int seed : {1, 2, 3}) {
    a.trials.push_back(repeat(cat("a", seed), "127", seed, seed));
    b.trials.push_back(repeat(cat("b", seed), "255", seed + 1, seed + 1));
  }
  const Comparison found = compare(a, b, {});
  ASSERT_THAT(flag_names(found), Contains("same_outcome"));
  EXPECT_THAT(found.flags[0].text, HasSubstr("3 of 4 jobs have the same model"));
  b.trials[0] = repeat("b4", "255", 2, 7);
  EXPECT_THAT(flag_names(compare(a, b, {})), Not(Contains("same_outcome")));
}

// A matrix has the seed as a text, and the other side's jobs report a number.
TEST_F(BatchesBySeed, TheSeedOfAMatrixIsThatWhichJobsReport) {
  std::vector<MadeJob> sweep;
  for (const int seed : {1, 2, 3}) {
    const std::vector<MadeJob> jobs = asked(grid(2, 2, 2), "127", 127);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      MadeJob job = jobs[i];
      job.more = {{"seed", cat(seed)}};
      job.model = cat("m", i, "-", seed);
      sweep.push_back(job);
    }
  }
  const TrialGroup a{.name = "old", .trials = by_seed(batch("sweep", sweep))};
  ASSERT_EQ(a.trials.size(), 3U);
  TrialGroup same{.name = "same", .trials = {}}, mixed{.name = "mixed", .trials = {}};
  for (const int seed : {1, 2, 3}) {
    same.trials.push_back(repeat(cat("s", seed), "255", seed, seed));
    mixed.trials.push_back(repeat(cat("x", seed), "255", seed, seed % 3 + 1));
  }
  EXPECT_THAT(flag_names(compare(a, same, {})), Contains("same_outcome"));
  EXPECT_THAT(flag_names(compare(a, mixed, {})), Not(Contains("same_outcome")));
}

TEST_F(Batches, AParameterThatDiffersWhereTheModelsDoChangedSomething) {
  std::vector<MadeJob> a = grid(2, 2, 2), b = grid(2, 2, 2);
  for (std::size_t i = 0; i < a.size(); ++i) a[i].model = b[i].model = cat("m", i);
  b[0].leaves_used = 255;
  b[0].model = "another";
  EXPECT_THAT(flag_names(against(batch("a", a), batch("b", b))), Not(Contains("same_outcome")));
}

TEST_F(Batches, WithoutHashesTheirQualitiesTellWhatIsTheSame) {
  std::vector<MadeJob> b = asked(grid(2, 2, 2), "255", 255);
  b[0].auc = 0.7;
  const Comparison found = against(batch("a", grid(2, 2, 2)), batch("b", b));
  ASSERT_THAT(flag_names(found), Contains("same_outcome"));
  EXPECT_THAT(found.flags[0].text,
              HasSubstr("3 of 4 jobs have the same results to the last digit"));
  for (MadeJob& job : b) job.auc = 0.7;
  EXPECT_THAT(flag_names(against(batch("c", grid(2, 2, 2)), batch("d", b))),
              Not(Contains("same_outcome")));
}

TEST_F(Batches, TheSameWorkWithTheSameResultsIsNoFlag) {
  const Comparison found = against(batch("a", grid(2, 2, 2)), batch("b", grid(2, 2, 2)));
  EXPECT_THAT(flag_names(found), Not(Contains("same_outcome")));
  EXPECT_THAT(found.equal, Contains("options"));
}

// Two settings of three seeds each, in one batch.
TEST_F(Batches, SeedsOfAMatrixAreRepeatsOfOneConfiguration) {
  std::vector<MadeJob> jobs;
  for (const char* lr : {"0.1", "0.01"})
    for (const char* seed : {"1", "2", "3"})
      for (MadeJob job : grid(2, 2, 2)) {
        job.more = {{"lr", lr}, {"seed", seed}};
        job.auc = (lr == std::string("0.1") ? 0.6 : 0.7) + 0.001 * (seed[0] - '2');
        jobs.push_back(job);
      }
  const Trial all = batch("sweep", jobs);
  TrialGroup a{.name = "a", .trials = by_seed(choose_jobs(all, {{"lr", "0.1"}}))},
      b{.name = "b", .trials = by_seed(choose_jobs(all, {{"lr", "0.01"}}))};
  ASSERT_EQ(a.trials.size(), 3U);
  EXPECT_EQ(a.trials[0].name, "sweep:lr=0.1:seed=1");
  EXPECT_NE(a.trials[0].path, a.trials[1].path) << "each is a repeat of its own";
  const Comparison found = compare(a, b, {.by = "test.auc", .better = {{"auc", Better::higher}}});
  EXPECT_EQ(found.jobs.matched, 4);
  EXPECT_EQ(found.conclusion, Conclusion::better);
  EXPECT_EQ(compare(a, b, {.by = "auc", .better = {{"auc", Better::higher}}}).by, "test.auc");
  EXPECT_NEAR(row(found, "test.auc").contrast.interval.estimate, 0.1, 1e-9);
  for (const QuantityRow& one : found.rows)
    EXPECT_NE(one.what.aspect, Aspect::time) << one.what.name << ": they ran side by side";
}

// A mistyped folder of prices leaves out hundreds of symbols.
TEST_F(Batches, WhatIsLeftOutIsOneCautionWithTheFirstNames) {
  batch("b", grid(1, 2, 2));
  const BatchFolder made{folder.path() / "b"};
  const auto cautions = [&](const std::vector<std::string>& lines) {
    Ledger::open(made.ledger()).set_fact("left_out", nlohmann::json(lines).dump());
    return read_batch_facts(made).cautions;
  };
  EXPECT_THAT(cautions({"CD: no file"}), Contains("left out: CD: no file"));
  std::vector<std::string> lines;
  for (int i = 0; i < 300; ++i) lines.push_back(cat("S", i, ": no file"));
  const std::string note =
      "300 are left out: S0, S1, S2, S3, S4 and 295 more; lockstep batch status says why";
  EXPECT_THAT(cautions(lines), ::testing::AllOf(Contains(note), Not(Contains(HasSubstr("S9")))));
  EXPECT_THAT(read_batch_report(made).notes, ::testing::ElementsAre(note));
  EXPECT_EQ(left_out_note({"A: x", "B: y: z"}),
            "2 are left out: A, B; lockstep batch status says why");
}

TEST_F(Batches, AChoiceOfJobsThatAreNotThereNamesThoseThatAre) {
  const Trial all = batch("sweep", grid(2, 2, 2));
  EXPECT_THAT(error_of([&] { choose_jobs(all, {{"symbol", "X"}}); }), HasSubstr("S0, S1"));
  EXPECT_THAT(error_of([&] { choose_jobs(all, {{"lr", "1"}}); }), HasSubstr("no parameter lr"));
  EXPECT_EQ(by_seed(all).size(), 1U);
  EXPECT_EQ(split_choice("runs/s:lr=0.1:seed=2"),
            (std::pair<std::string, ChosenParameters>("runs/s", {{"lr", "0.1"}, {"seed", "2"}})));
  EXPECT_EQ(split_choice("a:b").first, "a:b");
}

TEST_F(Batches, QualitiesAreTestedJobByJob) {
  std::vector<MadeJob> better = grid(5, 2, 2);
  for (std::size_t i = 0; i < better.size(); ++i)
    better[i].auc += 0.01 * static_cast<double>(i + 1);
  const Comparison found = against(batch("a", grid(5, 2, 2)), batch("b", better));
  ASSERT_EQ(found.jobs.pairs.size(), 1U);
  EXPECT_EQ(found.jobs.pairs[0].ranks.more, 10);
  EXPECT_NEAR(found.jobs.pairs[0].ranks.p, 2.0 / 1024, 1e-12);
  EXPECT_EQ(row(found, "test.auc").conclusion, Conclusion::inconclusive) << "one repeat a side";
}

TEST_F(Batches, DataOfAJobThatDiffersIsNamedWithHowMany) {
  std::vector<MadeJob> other = grid(2, 2, 2);
  other[1].data = "changed";
  const Comparison found = against(batch("a", grid(2, 2, 2)), batch("b", other));
  EXPECT_THAT(found.verdict, HasSubstr("data changed against d100, in 1 of 4 jobs"));
}

TEST_F(Batches, WhatTheJobsUsedIsNotKnownUnlessTheyReportIt) {
  Trial a = batch("a", grid(1, 2, 2)), b = batch("b", asked(grid(1, 2, 2), "255", 31));
  for (Trial* trial : {&a, &b})
    for (JobFacts& job : trial->jobs) job.results.clear();
  EXPECT_THAT(against(a, b).verdict, HasSubstr("not known: data of both, options of both"));
  for (JobFacts& job : b.jobs) job.key = job.key.substr(0, job.key.size() - 3) + "127";
  EXPECT_THAT(against(a, b).verdict, Not(HasSubstr("options")))
      << "jobs that are the same by content are the same work";
}

TEST_F(Batches, WithoutJobsInCommonAreNotComparable) {
  std::vector<MadeJob> other = grid(2, 2, 2);
  for (MadeJob& job : other) job.symbol += "x";
  const Comparison found = against(batch("a", grid(2, 2, 2)), batch("b", other));
  EXPECT_EQ(found.jobs.matched, 0);
  EXPECT_EQ(found.conclusion, Conclusion::not_comparable);
  EXPECT_THAT(found.verdict, HasSubstr("job_list"));
}

// Each share has a log of its own; what lies above them may be a stranger's link.
TEST_F(Batches, LogsOfGpusAreThoseOfShares) {
  using lockstep::testing::gpu_csv;
  const std::filesystem::path all = folder.path() / "all";
  batch("all/shares/1", grid(1, 4, 5));
  std::ofstream(all / "batch.json") << "{}";
  std::ofstream(folder.path() / "other.csv") << gpu_csv(1'000'000, 1'000'005, {{.power_w = 500}});
  std::filesystem::create_symlink(folder.path() / "other.csv", all / "gpu.csv");
  const BatchFolder top{all};
  EXPECT_TRUE(read_batch_facts(top).value("clock_mhz").is_null());
  std::ofstream(all / "shares/1/gpu.csv") << gpu_csv(1'000'000, 1'000'005, {{.power_w = 300}});
  const Trial trial = read_batch_facts(top);
  EXPECT_FALSE(trial.value("clock_mhz").is_null());
  EXPECT_THAT(trial.cautions, Not(Contains(HasSubstr("gpu.csv"))));
}

TEST_F(Batches, PicturesOfAFolderThatIsFullOfThemAreCounted) {
  batch("full", grid(1, 1, 1));
  for (int i = 0; i < 250; ++i)
    std::ofstream(folder.path() / "full" / (std::to_string(1000 + i) + ".svg")) << "<svg/>";
  const BatchReport report = read_batch_report({folder.path() / "full"});
  EXPECT_EQ(report.pictures.size(), 200U);
  EXPECT_THAT(report.problems, Contains(HasSubstr("the first 200 of 250 pictures")));
}

TEST_F(Batches, EmptyAndForeignLedgersAreRefusedInWords) {
  const BatchFolder broken{folder.path() / "x"};
  std::filesystem::create_directories(broken.path);
  std::ofstream(broken.ledger()) << "no database, but long enough to be taken for one, perhaps";
  EXPECT_THAT(error_of([&] { read_batch_facts(broken); }), HasSubstr("ledger"));
  const Comparison found = against(batch("a", {}), batch("b", {}));
  EXPECT_EQ(found.conclusion, Conclusion::not_comparable);
}

// A million jobs on a few devices must not have a million lists of them.
TEST(DeviceLists, AreHeldOnce) {
  DeviceLists lists;
  const DeviceNames two = lists.of(R"(["GPU-a","GPU-b"])");
  EXPECT_THAT(*two, ::testing::ElementsAre("GPU-a", "GPU-b"));
  EXPECT_EQ(lists.of(R"(["GPU-a","GPU-b"])"), two);
  for (const char* none : {"[]", "[1]", "{}", "no list", ""})
    EXPECT_TRUE(lists.of(none)->empty()) << none;
}

}  // namespace
}  // namespace lockstep
