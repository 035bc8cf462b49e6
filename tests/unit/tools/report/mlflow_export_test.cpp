// Runs and batches written into MLflow's file store, beside what is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "fakes/made_run.h"
#include "tools/jobs/ledger/ledger.h"
#include "tools/report/comparison/trial_source.h"
#include "tools/report/exports/run_exports.h"
#include "tools/report/trackers/mlflow_files.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::MadeRun;

class MlflowExports : public ::testing::Test {
 protected:
  RunDir made_run(const nlohmann::json& more = nlohmann::json::object()) {
    MadeRun made(folder.path() / "run");
    made.record(more);
    if (!more.contains("results")) {
      made.start(0);
      made.steps(0, 10);
    }
    made.state("finished");
    return RunDir::open(made.path.string(), folder.path());
  }

  void write(const fs::path& file, const std::string& text) {
    fs::create_directories((folder.path() / file).parent_path());
    std::ofstream(folder.path() / file) << text;
  }

  BatchFolder made_batch() {
    const BatchFolder batch{folder.path() / "sweep"};
    fs::create_directories(batch.path);
    std::ofstream(batch.record()) << "{}";
    Ledger ledger = Ledger::open(batch.ledger());
    JobList list;
    for (const char* name : {"a", "b", "c"}) {
      Job job;
      job.name = job.key = name;
      job.folder = "/";
      job.parameters = {{"leaves", name}};
      job.command = {"true"};
      list.jobs.push_back(job);
    }
    ledger.add(list, true);
    end(ledger, 1, AttemptOutcome::done, {{"test.auc", 0.75}, {"used.leaves", 31.0}});
    end(ledger, 2, AttemptOutcome::failed, {});
    return batch;
  }

  static void end(Ledger& ledger, std::int64_t job, AttemptOutcome outcome,
                  std::vector<JobResult> results) {
    std::vector<Attempt> attempts{{.job = job, .supervisor = "s", .slot = 0}};
    ledger.begin(attempts);
    AttemptEnd end{.outcome = outcome, .started = 100, .ended = 102.5};
    end.results.values = std::move(results);
    ledger.end(attempts[0], end,
               outcome == AttemptOutcome::done ? JobState::done : JobState::failed, 0);
  }

  const TemporaryDirectory folder;
};

TEST_F(MlflowExports, GoIntoTheExperimentOfThatName) {
  write("mlruns/7/meta.yaml", "experiment_id: '7'\nname: textgen\nlifecycle_stage: active\n");
  write("mlruns/8/meta.yaml", "experiment_id: '8'\nname: other\nlifecycle_stage: active\n");
  const WrittenExport written = export_mlflow(made_run(), folder.path() / "mlruns", false);
  EXPECT_TRUE(written.what.starts_with("7/")) << written.what;
  EXPECT_EQ(mlflow_experiments(folder.path() / "mlruns").size(), 2U);
  EXPECT_THAT(read_file(folder.path() / "mlruns" / written.what / "meta.yaml"),
              HasSubstr("experiment_id: '7'"));
}

TEST_F(MlflowExports, ANewExperimentTakesNoIdOfAnother) {
  const fs::path store = folder.path() / "mlruns";
  const RunDir run = made_run();
  const std::string whole = export_mlflow(run, store, false).what;
  const std::string taken = whole.substr(0, whole.find('/'));
  fs::remove_all(store);
  write("mlruns/" + taken + "/meta.yaml",
        "experiment_id: '" + taken + "'\nname: other\nlifecycle_stage: active\n");
  const std::string second = export_mlflow(run, store, false).what;
  EXPECT_NE(second.substr(0, second.find('/')), taken);
}

TEST_F(MlflowExports, ADeletedExperimentKeepsItsName) {
  write("mlruns/.trash/7/meta.yaml",
        "experiment_id: '7'\nname: textgen\nlifecycle_stage: deleted\n");
  write("mlruns/0/meta.yaml", "experiment_id: '0'\nname: Default\nlifecycle_stage: active\n");
  EXPECT_THAT(error_of([&] { export_mlflow(made_run(), folder.path() / "mlruns", false); }),
              AllOf(HasSubstr("was deleted in MLflow"), HasSubstr("restore --experiment-id 7")));
}

TEST_F(MlflowExports, NothingIsWrittenWhereMlflowReadsADatabase) {
  write("mlflow.db", "SQLite format 3");
  write("inside/mlflow.db", "SQLite format 3");
  const RunDir run = made_run();
  for (const char* store : {"mlruns", "mlruns/", "inside"}) {
    EXPECT_THAT(error_of([&] { export_mlflow(run, folder.path() / store, false); }),
                AllOf(HasSubstr("would no longer read"), HasSubstr("lockstep-mlruns")))
        << store;
    EXPECT_FALSE(is_mlflow_store(folder.path() / store));
  }
  EXPECT_THAT(error_of([&] { export_mlflow(run, folder.path() / "mlflow.db", false); }),
              HasSubstr("is a file"));
  EXPECT_NO_THROW(export_mlflow(run, folder.path() / "others", false));
  write("mlruns/0/meta.yaml", "experiment_id: '0'\nname: Default\nlifecycle_stage: active\n");
  EXPECT_NO_THROW(export_mlflow(run, folder.path() / "mlruns", false)) << "MLflow reads that one";
}

TEST_F(MlflowExports, ARunThatTrainsInTheToolHasItsResults) {
  const RunDir run =
      made_run({{"recipe", "gbdt"},
                {"seconds", 2.5},
                {"results",
                 {{"data", "d0"}, {"used.leaves", 31}, {"rows.train", 800}, {"test.auc", 0.75}}}});
  const WrittenExport written = export_mlflow(run, folder.path() / "mlruns", false);
  EXPECT_EQ(written.evaluations, 1);
  const fs::path place = folder.path() / "mlruns" / written.what;
  EXPECT_EQ(read_file(place / "metrics/test.auc"), "1000002500 0.75 0\n");
  EXPECT_EQ(read_file(place / "metrics/wall_s"), "1000002500 2.5 0\n");
  EXPECT_EQ(read_file(place / "params/used.leaves"), "31");
  EXPECT_EQ(read_file(place / "params/data"), "d0");
}

TEST_F(MlflowExports, EachJobOfABatchThatIsOverIsARun) {
  const BatchFolder batch = made_batch();
  const fs::path store = folder.path() / "mlruns";
  const WrittenExport written = export_mlflow(batch, store, false);
  EXPECT_EQ(written.runs, 2) << "one waits";
  const Trial a = read_trial(store.string() + "#sweep/a", folder.path());
  EXPECT_EQ(a.find("last.test.auc")->value, 0.75);
  EXPECT_EQ(a.find("last.job_s")->value, 2.5);
  EXPECT_EQ(a.value("param.leaves"), "a");
  EXPECT_EQ(a.value("param.used.leaves"), 31);
  EXPECT_EQ(read_trial(store.string() + "#sweep/b", folder.path()).state, "failed");
  EXPECT_THAT(error_of([&] { export_mlflow(batch, store, false); }), HasSubstr("--force"));
  EXPECT_EQ(export_mlflow(batch, store, true).runs, 2);
}

TEST_F(MlflowExports, WhatIsWrittenIsReadAgain) {
  export_mlflow(made_run(), folder.path() / "mlruns", false);
  const Trial trial = read_trial((folder.path() / "mlruns").string(), folder.path());
  EXPECT_EQ(trial.name, "run");
  EXPECT_NEAR(trial.find("step_s")->value, 0.1, 1e-9);
}

}  // namespace
}  // namespace lockstep
