// Stores of experiment trackers, as the real libraries wrote them.
#include "tools/report/trackers/tracker_store.h"

#include "report_fixtures.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "checkout_paths.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "tools/jobs/ledger/database.h"
#include "tools/report/comparison/trial_source.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class TrackerStores : public ::testing::Test {
 protected:
  static fs::path fixture(const char* name) {
    return fs::path(LOCKSTEP_SOURCE_DIR) / "tests/unit/tools/report/stores" / name;
  }

  fs::path database(const char* dump, const char* name, const std::string& more = "") {
    const fs::path file = folder.path() / name;
    Database made(file, Database::Access::create);
    made.limit_work({});
    made.execute(read_file(fixture(dump)));
    made.execute(more);
    return file;
  }

  fs::path mlruns() {
    const nlohmann::json files = nlohmann::json::parse(read_file(fixture("mlruns-2.22.json")));
    for (const auto& [name, text] : files.items()) {
      const fs::path file = folder.path() / "mlruns" / name;
      fs::create_directories(file.parent_path());
      std::ofstream(file) << text.get<std::string>();
    }
    return folder.path() / "mlruns";
  }

  Trial read(const fs::path& store, const std::string& run) {
    return read_trial(store.string() + "#" + run, folder.path());
  }

  static double measured(const Trial& trial, const char* name) {
    const Quantity* const quantity = trial.find(name);
    return quantity == nullptr ? NAN : quantity->value;
  }

  static void expect_the_base_run(const Trial& trial) {
    EXPECT_EQ(trial.name, "base");
    EXPECT_EQ(trial.source, "MLflow run");
    EXPECT_EQ(trial.state, "finished");
    EXPECT_EQ(trial.number("steps"), 4);
    EXPECT_NEAR(measured(trial, "step_s"), 1.0, 1e-6);
    EXPECT_NEAR(measured(trial, "train_s"), 3.0, 1e-6) << "a score was added a day later";
    EXPECT_EQ(measured(trial, "best.val/loss"), 1.5);
    EXPECT_EQ(measured(trial, "last.loss"), 1.5);
    EXPECT_TRUE(std::isnan(trial.find("last.score")->value));
    EXPECT_TRUE(std::isinf(trial.find("last.peak")->value));
    EXPECT_EQ(trial.find("last.system/cpu"), nullptr) << "it counts steps of its own";
    EXPECT_EQ(trial.value("param.lr"), 0.1);
    EXPECT_EQ(trial.facts.at("param.seed").kind, FactKind::means) << "repeats differ in it";
    EXPECT_TRUE(trial.paths.contains("param.out_dir"));
    EXPECT_EQ(trial.value("code"), "0123456789ab");
    EXPECT_TRUE(trial.value("data").is_null());
    EXPECT_THAT(trial.cautions, ElementsAre(HasSubstr("a run of another program")));
  }

  const TemporaryDirectory folder;
};

TEST_F(TrackerStores, ADatabaseOfMlflowIsRead) {
  for (const char* dump : {"mlflow-2.22.sql", "mlflow-3.17.sql"}) {
    SCOPED_TRACE(dump);
    const fs::path store = database(dump, cat(dump, ".db").c_str());
    const std::vector<TrackedRun> runs = open_tracker_store(store)->runs();
    ASSERT_EQ(runs.size(), 3U) << "one was deleted";
    EXPECT_EQ(runs[2].experiment, "other") << "in the order of their starts";
    expect_the_base_run(read(store, "textgen/base"));
    const Trial slow = read(store, "slow");
    EXPECT_NEAR(measured(slow, "step_s"), 1.1, 1e-6);
    EXPECT_THAT(slow.cautions, Contains("its state is failed"));
  }
}

TEST_F(TrackerStores, TheFolderOfMlflowIsRead) {
  const fs::path store = mlruns();
  expect_the_base_run(read(store, "textgen/base"));
  const std::vector<TrackedRun> runs = open_tracker_store(store)->runs();
  ASSERT_EQ(runs.size(), 3U);
  fs::path place;
  for (const auto& entry : fs::directory_iterator(store))
    if (fs::exists(entry.path() / runs[0].id)) place = entry.path() / runs[0].id;
  EXPECT_EQ(read_trial(place.string(), folder.path()).path,
            place.parent_path().string() + "#" + runs[0].id);
  EXPECT_EQ(read_trial((store / "textgen/slow").string(), folder.path()).name, "slow");
}

TEST_F(TrackerStores, RunsAreNamedByIdNameAndExperiment) {
  const fs::path store = database("mlflow-3.17.sql", "mlflow.db");
  const std::vector<TrackedRun> runs = open_tracker_store(store)->runs();
  EXPECT_EQ(read(store, runs[1].id).path, store.string() + "#" + runs[1].id);
  EXPECT_EQ(read(store, runs[1].id.substr(0, 8)).name, runs[1].name);
  EXPECT_EQ(read(store, "other/base").value("experiment"), "other");
  EXPECT_THAT(error_of([&] { read(store, "base"); }),
              AllOf(HasSubstr("holds 2 runs that are base"), HasSubstr("#")));
  EXPECT_THAT(error_of([&] { read(store, "slwo"); }), HasSubstr("did you mean slow?"));
  EXPECT_THAT(error_of([&] { read_trial(store.string(), folder.path()); }),
              AllOf(HasSubstr("holds 3 runs: "), HasSubstr("lockstep runs")));
}

TEST_F(TrackerStores, WhoLogsWithoutStepsHasNone) {
  const fs::path store =
      database("mlflow-3.17.sql", "mlflow.db",
               "DELETE FROM metrics WHERE key != 'loss'; UPDATE metrics SET step = 0");
  const Trial trial = read(store, "textgen/base");
  EXPECT_EQ(measured(trial, "best.loss"), 1.5);
  EXPECT_TRUE(trial.value("steps").is_null());
  EXPECT_EQ(trial.find("step_s"), nullptr);
}

TEST_F(TrackerStores, ADatabaseOfTrackioIsRead) {
  const fs::path store = database("trackio-0.43.sql", "textgen.db");
  const Trial trial = read(store, "slow");
  EXPECT_EQ(trial.source, "trackio run");
  EXPECT_EQ(trial.value("experiment"), "textgen");
  EXPECT_NEAR(measured(trial, "step_s"), 3.3, 1e-6);
  EXPECT_EQ(measured(trial, "best.val/loss"), 1.5);
  EXPECT_TRUE(std::isnan(trial.find("last.score")->value));
  EXPECT_EQ(trial.value("param.model.layers"), 2);
  EXPECT_FALSE(trial.facts.contains("param._Created"));
}

// Transformers gives trackio no step of its own, which then counts the calls.
TEST_F(TrackerStores, StepsOfATrainerComeBeforeTheCallsThatTrackioCounts) {
  const fs::path store = database(
      "trackio-0.43.sql", "textgen.db",
      "UPDATE metrics SET metrics = json_set(metrics, '$.\"train/global_step\"', 50 * step)");
  EXPECT_NEAR(measured(read(store, "slow"), "step_s"), 3.3 / 50, 1e-6);
}

TEST_F(TrackerStores, TimesOfTrackioThatAreThoseOfWritingAreNone) {
  const fs::path store = database("trackio-0.43.sql", "textgen.db",
                                  "UPDATE metrics SET timestamp = '2026-01-31T09:30:00+00:00'; "
                                  "UPDATE metrics SET timestamp = '2026-01-31T09:30:20+00:00' "
                                  "WHERE step = 40");
  const Trial trial = read(store, "base");
  EXPECT_EQ(trial.find("step_s"), nullptr);
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("less than a minute")));
}

TEST_F(TrackerStores, OlderDatabasesOfTrackioKnowRunsByTheirNames) {
  const fs::path store = database(
      "trackio-0.43.sql", "textgen.db",
      "CREATE TABLE m AS SELECT id, timestamp, run_name, step, metrics FROM metrics; DROP TABLE "
      "metrics; ALTER TABLE m RENAME TO metrics; CREATE TABLE c AS SELECT run_name, config FROM "
      "configs; DROP TABLE configs; ALTER TABLE c RENAME TO configs");
  EXPECT_EQ(read(store, "base").value("param.lr"), 0.1);
  const fs::path oldest = database("trackio-0.43.sql", "oldest.db", "DROP TABLE configs");
  EXPECT_EQ(read(oldest, "base").number("steps"), 40) << "0.3 has no parameters";
}

// Version 0.24 and later leave the tables of a project that an older one began as they are, and
// make those that it lacks with ids; what Spaces restore from Parquet may have ids in some rows.
TEST_F(TrackerStores, IdsMayBeMissingInATableOfTrackioOrInRows) {
  const std::string metrics =
      "CREATE TABLE m AS SELECT id, timestamp, run_name, step, metrics FROM metrics; DROP TABLE "
      "metrics; ALTER TABLE m RENAME TO metrics;";
  const std::string configs =
      "CREATE TABLE c AS SELECT id, run_name, config FROM configs; DROP TABLE configs; ALTER TABLE "
      "c RENAME TO configs;";
  const std::string some =
      "CREATE TABLE m AS SELECT id, nullif(run_id, (SELECT run_id FROM metrics WHERE run_name = "
      "'base')) AS run_id, timestamp, run_name, step, metrics FROM metrics; DROP TABLE metrics; "
      "ALTER TABLE m RENAME TO metrics;";
  int number = 0;
  for (const std::string& change : {metrics, configs, some}) {
    const fs::path store =
        database("trackio-0.43.sql", cat("text", ++number, ".db").c_str(), change);
    EXPECT_EQ(open_tracker_store(store)->runs().size(), 2U) << change;
    for (const char* run : {"base", "slow"}) {
      EXPECT_EQ(read(store, run).value("param.lr"), 0.1) << run << change;
      EXPECT_EQ(read(store, run).number("steps"), 40) << run << change;
    }
  }
}

// A score of another program, added to the run a day later, several times.
TEST_F(TrackerStores, WhatIsAddedToARunLaterIsNotItsTime) {
  const fs::path store = database(
      "mlflow-3.17.sql", "mlflow.db",
      "INSERT INTO metrics (key, value, timestamp, run_uuid, step, is_nan) SELECT 'test/acc', 0.5, "
      "timestamp + 90000000 + step, run_uuid, step, 0 FROM metrics WHERE key = 'loss'");
  const Trial trial = read(store, "textgen/base");
  EXPECT_NEAR(measured(trial, "train_s"), 3.0, 1e-6);
  EXPECT_EQ(measured(trial, "last.test/acc"), 0.5);
}

TEST_F(TrackerStores, ReadingLeavesNothingBeside) {
  const fs::path store = database("trackio-0.43.sql", "text%20gen.db", "PRAGMA journal_mode = WAL");
  const std::string before = read_file(store);
  read(store, "base");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
  EXPECT_EQ(read_file(store), before);
}

TEST_F(TrackerStores, WhatAWriterHasNotMergedYetIsRead) {
  const fs::path store = database("trackio-0.43.sql", "textgen.db", "PRAGMA journal_mode = WAL");
  Database writer(store, Database::Access::write);
  writer.execute("UPDATE metrics SET step = 50 WHERE step = 40");
  EXPECT_EQ(read(store, "base").number("steps"), 50);
}

TEST_F(TrackerStores, OtherDatabasesAndDamagedOnesAreSaidToBeSuch) {
  const fs::path other = folder.path() / "other.db";
  Database(other, Database::Access::create).execute("CREATE TABLE x(a)");
  EXPECT_THAT(error_of([&] { read_trial(other.string(), folder.path()); }),
              HasSubstr("neither MLflow's nor trackio's"));
  const fs::path store = database("mlflow-3.17.sql", "mlflow.db");
  std::string bytes = read_file(store);
  for (std::size_t i = 4096; i < bytes.size(); ++i) bytes[i] = '\x55';
  std::ofstream(folder.path() / "damaged.db", std::ios::binary) << bytes;
  EXPECT_THAT(error_of([&] { read(folder.path() / "damaged.db", "base"); }),
              AllOf(HasSubstr("the database"), Not(HasSubstr("ledger"))));
}

}  // namespace
}  // namespace lockstep
