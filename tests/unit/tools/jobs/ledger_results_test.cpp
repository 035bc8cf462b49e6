// What jobs said of themselves, in the ledger and in the table of all jobs.
#include "core/media/csv_table.h"
#include "job_fixtures.h"
#include "ledger_fixtures.h"
#include "tools/jobs/analysis/batch_text.h"
#include "tools/jobs/files/jobs_csv.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class LedgerResults : public LedgerFolder {
 protected:
  static std::int64_t end_with(Ledger& ledger, std::int64_t job, const JobResults& results,
                               AttemptOutcome outcome = AttemptOutcome::done) {
    const Attempt attempt = begin(ledger, job);
    ledger.end(attempt, {.outcome = outcome, .started = 100, .ended = 102.5, .results = results},
               outcome == AttemptOutcome::done ? JobState::done : JobState::failed, 0);
    return attempt.id;
  }
  CsvTable table() const {
    std::string text;
    write_jobs_csv({BatchFolder{folder.path()}}, [&](const std::string& lines) {
      text += lines;
      return true;
    });
    return parse_csv(text, "table");
  }
  static std::string cell(const CsvTable& table, std::size_t row, const std::string& column) {
    return table.rows.at(row).at(table.column(column));
  }
};

TEST_F(LedgerResults, AreThoseOfTheirAttempt) {
  Ledger ledger = open_with({"a", "b"});
  const auto attempt =
      end_with(ledger, 1, {.values = {{"rows", 1200.0}, {"data", "a1"}}, .left_out = "x is …"});
  EXPECT_THAT(ledger.results(attempt),
              ElementsAre(JobResult{"data", "a1"}, JobResult{"rows", 1200.0}));
  EXPECT_TRUE(ledger.results(attempt + 1).empty());
  EXPECT_EQ(number(ledger, "SELECT count(*) FROM result WHERE number = 1200 AND text IS NULL"), 1);
  EXPECT_EQ(number(ledger, "SELECT count(*) FROM attempt WHERE results_left_out = 'x is …'"), 1);
}

TEST_F(LedgerResults, OfAnEndThatWasKnownChangeNothing) {
  Ledger ledger = open_with({"a"});
  const Attempt attempt = begin(ledger, 1);
  const AttemptEnd end{.outcome = AttemptOutcome::done,
                       .results = {.values = {{"rows", 1.0}}, .left_out = ""}};
  ledger.end(attempt, end, JobState::done, 0);
  ledger.end(attempt, end, JobState::done, 0);
  EXPECT_EQ(ledger.results(attempt.id).size(), 1U);
}

TEST_F(LedgerResults, AreColumnsOfATableOfAllJobs) {
  {
    Ledger ledger = open();
    JobList list = small_jobs({"a", "b", "c"});
    list.jobs[0].parameters = {{"lr", "0.1"}};
    list.jobs[1].parameters = {{"lr", "0.2"}, {"note", "say \"a\", b\nc"}};
    ledger.add(list, true);
    end_with(ledger, 1, {.values = {{"auc", 0.5}}, .left_out = ""}, AttemptOutcome::failed);
    end_with(ledger, 1, {.values = {{"auc", 0.1}, {"data", "x,y"}}, .left_out = ""});
    end_with(ledger, 2, {.values = {{"auc", 1.0 / 3}}, .left_out = ""});
  }
  const CsvTable csv = table();
  ASSERT_EQ(csv.rows.size(), 3U);
  EXPECT_EQ(cell(csv, 0, "name"), "name-a");
  EXPECT_EQ(cell(csv, 0, "state"), "done");
  EXPECT_EQ(cell(csv, 0, "attempt"), "2");
  EXPECT_EQ(cell(csv, 0, "seconds"), "2.5");
  EXPECT_EQ(cell(csv, 0, "parameter.lr"), "0.1");
  EXPECT_EQ(cell(csv, 0, "result.auc"), "0.1");
  EXPECT_EQ(cell(csv, 0, "result.data"), "x,y");
  EXPECT_EQ(cell(csv, 1, "parameter.note"), "say \"a\", b\nc");
  EXPECT_EQ(std::stod(cell(csv, 1, "result.auc")), 1.0 / 3);
  EXPECT_EQ(cell(csv, 2, "state"), "waiting");
  EXPECT_EQ(cell(csv, 2, "started"), "");
  EXPECT_EQ(cell(csv, 2, "result.auc"), "");
}

TEST_F(LedgerResults, TheSummaryCountsWhatIsNotOnTheDiskYet) {
  Ledger ledger = open_with({"a", "b"});
  end_with(ledger, 1, {});
  const BatchFolder batch{folder.path()};
  EXPECT_THAT(batch_summary(batch, ledger),
              HasSubstr("1 of them ended just now, and would run again after a power loss"));
  EXPECT_EQ(ledger.unsynced(), 1);
  ledger.sync();
  EXPECT_EQ(ledger.unsynced(), 0);
  EXPECT_THAT(batch_summary(batch, ledger), Not(HasSubstr("power loss")));
}

TEST_F(LedgerResults, TheSummarySaysWhereThereWereMoreSlotsThanCores) {
  Ledger ledger = open_with({"a", "b"});
  end_with(ledger, 1, {});
  const BatchFolder batch{folder.path()};
  EXPECT_THAT(batch_summary(batch, ledger), HasSubstr(" s each with start-up, on average"));
  ledger.database().execute("UPDATE attempt SET slot = 7");
  EXPECT_THAT(batch_summary(batch, ledger), Not(HasSubstr("slots on")));
  ledger.set_fact("machine", R"({"cores":2})");
  EXPECT_THAT(batch_summary(batch, ledger), HasSubstr("; 8 slots on 2 cores\n"));
}

TEST_F(LedgerResults, TheSlowestAreOfJobsThatAreListed) {
  Ledger ledger = open_with({"a", "b"});
  end_with(ledger, 1, {});
  end_with(ledger, 2, {});
  ledger.add(small_jobs({"b"}), true);
  const std::string text = batch_summary({folder.path()}, ledger);
  EXPECT_THAT(text, HasSubstr("slowest: name-b 2.50 s"));
  EXPECT_THAT(text, Not(HasSubstr("name-a")));
}

TEST_F(LedgerResults, OfManyJobsAreWrittenBitByBitAsLongAsSomebodyReads) {
  constexpr int jobs = 2500;
  {
    std::vector<std::string> keys;
    for (int i = 0; i < jobs; ++i) keys.push_back(std::to_string(i));
    open_with(keys);
  }
  int parts = 0;
  std::string text;
  write_jobs_csv({BatchFolder{folder.path()}}, [&](const std::string& lines) {
    ++parts;
    EXPECT_TRUE(lines.ends_with('\n'));
    text += lines;
    return true;
  });
  EXPECT_GT(parts, 2) << "all of it was held at once";
  const CsvTable all = parse_csv(text, "table");
  ASSERT_EQ(all.rows.size(), static_cast<std::size_t>(jobs));
  EXPECT_EQ(cell(all, jobs - 1, "job"), std::to_string(jobs));
  parts = 0;
  write_jobs_csv({BatchFolder{folder.path()}}, [&](const std::string&) { return ++parts < 2; });
  EXPECT_EQ(parts, 2);
}

}  // namespace
}  // namespace lockstep
