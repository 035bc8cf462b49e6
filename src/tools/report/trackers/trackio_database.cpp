// Reads trackio's SQLite file of a project (PROJECT.db). Old versions have no ids of runs.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "tools/report/logs/json_rows.h"
#include "tools/report/logs/log_times.h"
#include "tools/report/trackers/tracked_facts.h"
#include "tools/report/trackers/tracker_databases.h"

namespace lockstep {
namespace {

// Rows have the time at which they are written, which may be half a second late. Several rows are
// written together.
constexpr double shortest_timed_s = 60;

class TrackioDatabase final : public TrackerStore {
 public:
  explicit TrackioDatabase(std::unique_ptr<Database> database)
      : database_(std::move(database)),
        id_(id_of("metrics")),
        config_id_(id_of("configs")),
        has_configs_(has_configs()) {}

  std::string kind() const override { return "trackio"; }

  std::vector<TrackedRun> runs() override {
    std::vector<TrackedRun> runs;
    Statement rows(*database_, cat("SELECT ", id_,
                                   ", max(run_name), min(timestamp) FROM metrics "
                                   "GROUP BY ",
                                   id_, " ORDER BY min(id)"));
    while (rows.step())
      runs.push_back({.id = rows.text(0),
                      .name = rows.text(1),
                      .experiment = database_->path().stem().string(),
                      .state = "",
                      .started = seconds_of_text(rows.text(2)).value_or(NAN)});
    return runs;
  }

  void read(const TrackedRun& run, Trial& trial) override {
    read_metrics(run, trial);
    if (!has_configs_) return;
    // Unless both tables have ids, the config is also found by the run's name. Versions before 0.24
    // use no other id.
    const bool by_id = id_ == "run_id" && config_id_ == "run_id";
    Statement config(*database_, cat("SELECT config FROM configs WHERE ", config_id_, " = ?1",
                                     by_id ? "" : " OR run_name = ?2", " ORDER BY ", config_id_,
                                     " = ?1 DESC, rowid DESC LIMIT 1"));
    config.bind(1, std::string_view(run.id));
    if (!by_id) config.bind(2, std::string_view(run.name));
    if (!config.step()) return;
    const nlohmann::json parameters = parse_python_json(config.text(0));
    if (!parameters.is_object()) return;
    for (const auto& [name, value] : parameters.items())
      // trackio's own keys, such as _Created
      if (!name.starts_with('_')) add_parameter(name, value, trial);
  }

 private:
  bool has_configs() {  // versions before 0.4 lack this table
    Statement table(*database_,
                    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'configs'");
    return table.step();
  }

  // The expression that identifies a run in that table. Projects from older versions lack ids in
  // some tables or rows.
  std::string id_of(const std::string& table) {
    Statement columns(*database_,
                      cat("SELECT 1 FROM pragma_table_info('", table, "') WHERE name = 'run_id'"));
    if (!columns.step()) return "run_name";
    Statement rows(*database_,
                   cat("SELECT 1 FROM ", table, " WHERE run_id IS NULL OR run_id = '' LIMIT 1"));
    return rows.step() ? "coalesce(nullif(run_id, ''), run_name)" : "run_id";
  }

  bool is_timed(const TrackedRun& run) {
    Statement span(*database_,
                   cat("SELECT min(timestamp), max(timestamp) FROM metrics WHERE ", id_, " = ?"));
    if (!span.bind(1, std::string_view(run.id)).step()) return false;
    const std::optional<double> begin = seconds_of_text(span.text(0)),
                                end = seconds_of_text(span.text(1));
    return begin && end && *end - *begin >= shortest_timed_s;
  }

  void read_metrics(const TrackedRun& run, Trial& trial) {
    const bool timed = is_timed(run);
    JsonRows table(cat(database_->path().string(), "#", run.id));
    std::int64_t damaged = 0;
    Statement rows(*database_, cat("SELECT step, timestamp, metrics FROM metrics WHERE ", id_,
                                   " = ? ORDER BY id"));
    rows.bind(1, std::string_view(run.id));
    while (rows.step()) {
      nlohmann::json metrics = parse_python_json(rows.text(2));
      if (!metrics.is_object()) {
        ++damaged;
        continue;
      }
      for (const char* own : {"step", "timestamp"}) metrics.erase(own);
      table.add(metrics);
      // If the trainer gives no step, as with Transformers, the step counts calls of log().
      table.add_number("_step", rows.number(0));
      const std::optional<double> time = seconds_of_text(rows.text(1));
      if (timed && time) table.add_number("timestamp", *time);
    }
    add_foreign_table(std::move(table).take(), trial);
    if (!timed)
      trial.cautions.push_back(
          "trackio writes many steps at once with one time, which tells nothing of a run of less "
          "than a minute");
    if (damaged > 0) trial.cautions.push_back(cat(damaged, " damaged rows of it are left out"));
  }

  std::unique_ptr<Database> database_;
  std::string id_, config_id_;  // SQL that identifies a run, for metrics and for configs
  bool has_configs_;
};

}  // namespace

std::unique_ptr<TrackerStore> trackio_database(std::unique_ptr<Database> database) {
  return std::make_unique<TrackioDatabase>(std::move(database));
}

}  // namespace lockstep
