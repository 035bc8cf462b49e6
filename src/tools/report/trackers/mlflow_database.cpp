// Reads MLflow's SQLite store (mlflow.db) of versions 1.x to 3.x.
#include <algorithm>
#include <cfloat>
#include <cmath>

#include "core/base/text/text.h"
#include "tools/report/trackers/mlflow_log.h"
#include "tools/report/trackers/tracked_facts.h"
#include "tools/report/trackers/tracker_databases.h"

namespace lockstep {
namespace {

constexpr const char* runs_query =
    "SELECT run_uuid, coalesce(nullif(runs.name, ''), (SELECT value FROM tags WHERE tags.run_uuid "
    "= runs.run_uuid AND tags.key = 'mlflow.runName'), ''), coalesce(experiments.name, ''), "
    "lower(coalesce(status, '')), start_time FROM runs LEFT JOIN experiments ON "
    "experiments.experiment_id = runs.experiment_id WHERE runs.lifecycle_stage IS NOT 'deleted' "
    "ORDER BY start_time, run_uuid";

class MlflowDatabase final : public TrackerStore {
 public:
  explicit MlflowDatabase(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  std::string kind() const override { return "MLflow"; }

  std::vector<TrackedRun> runs() override {
    std::vector<TrackedRun> runs;
    Statement rows(*database_, runs_query);
    while (rows.step())
      runs.push_back({.id = rows.text(0),
                      .name = rows.text(1),
                      .experiment = rows.text(2),
                      .state = rows.text(3),
                      .started = rows.is_null(4) ? NAN : rows.number(4) / 1000});
    return runs;
  }

  void read(const TrackedRun& run, Trial& trial) override {
    read_metrics(run.id, trial);
    Statement parameters(*database_, "SELECT key, value FROM params WHERE run_uuid = ?");
    parameters.bind(1, std::string_view(run.id));
    while (parameters.step()) add_parameter(parameters.text(0), parameters.text(1), trial);
    Statement commit(*database_,
                     "SELECT value FROM tags WHERE run_uuid = ? AND key = "
                     "'mlflow.source.git.commit'");
    if (commit.bind(1, std::string_view(run.id)).step()) add_mlflow_code(commit.text(0), trial);
  }

 private:
  void read_metrics(const std::string& id, Trial& trial) {
    MlflowLog log;
    Statement rows(*database_,
                   "SELECT key, timestamp, step, value, is_nan FROM metrics WHERE run_uuid = ? "
                   "ORDER BY key, timestamp, step");
    rows.bind(1, std::string_view(id));
    while (rows.step())
      log.add(rows.text(0), {.time_ms = rows.number(1),
                             .step = rows.integer(2),
                             .value = rows.integer(4) != 0 ? NAN : infinite(rows.number(3))});
    Statement starts(*database_,
                     "SELECT value FROM tags WHERE run_uuid = ? AND key = 'lockstep.starts'");
    if (starts.bind(1, std::string_view(id)).step()) log.set_starts(marks_of_text(starts.text(0)));
    std::move(log).finish(trial);
  }

  // MLflow stores infinity as the largest number, to 15 digits.
  static double infinite(double value) {
    constexpr double largest = DBL_MAX * (1 - 1e-14);
    return std::abs(value) >= largest ? std::copysign(INFINITY, value) : value;
  }

  std::unique_ptr<Database> database_;
};

}  // namespace

std::unique_ptr<TrackerStore> mlflow_database(std::unique_ptr<Database> database) {
  return std::make_unique<MlflowDatabase>(std::move(database));
}

}  // namespace lockstep
