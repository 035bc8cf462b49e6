// MLflow's file store: mlflow.org/docs/latest/tracking/backend-stores, as its FileStore reads it.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/utf8.h"
#include "report/event_limits.h"
#include "report/export_file.h"
#include "report/run_exports.h"
#include "run/json_lines.h"
#include "run/run_summary.h"
#include "run/tensorboard_log.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_value = 5000, most_metrics = 1000;

// What MLflow allows in names of metrics, parameters and tags; no way out of the folder.
std::string mlflow_name(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && !std::strchr("_-./ ", c)) c = '_';
  for (std::size_t at; (at = name.find("..")) != name.npos;) name.replace(at, 2, "__");
  for (std::size_t at; (at = name.find("/.")) != name.npos;) name.replace(at, 2, "/_");
  for (std::size_t at; (at = name.find("//")) != name.npos;) name.replace(at, 2, "/_");
  while (!name.empty() && (name.front() == '/' || name.front() == '.')) name.front() = '_';
  if (!name.empty() && name.back() == '/') name.back() = '_';
  return name.substr(0, 240);
}

// Each name has one of its own there, also where several become the same, or one the folder of
// another.
class MlflowNames {
 public:
  const std::string& of(const std::string& name) {
    const auto [known, is_new] = names_.try_emplace(name);
    if (is_new) known->second = free_name(mlflow_name(name));
    return known->second;
  }

 private:
  std::string free_name(const std::string& wanted) {
    if (take(wanted)) return wanted;
    std::string flat = wanted;
    std::replace(flat.begin(), flat.end(), '/', '_');
    for (int number = 2;; ++number)
      for (const std::string& base : {wanted, flat})
        if (std::string name = cat(base, "_", number); take(name)) return name;
  }

  bool take(const std::string& name) {
    std::vector<std::string> folders;
    for (std::size_t at = name.find('/'); at != name.npos; at = name.find('/', at + 1))
      folders.push_back(name.substr(0, at));
    if (files_.contains(name) || folders_.contains(name) ||
        std::any_of(folders.begin(), folders.end(),
                    [&](const std::string& folder) { return files_.contains(folder); }))
      return false;
    files_.insert(name);
    folders_.insert(folders.begin(), folders.end());
    return true;
  }

  std::map<std::string, std::string> names_;
  std::set<std::string> files_, folders_;
};

// A text as YAML, which takes JSON's.
std::string yaml_text(const std::string& text) { return to_line(nlohmann::json(text)); }

std::int64_t to_ms(double seconds) {
  return std::isfinite(seconds) ? std::llround(std::clamp(seconds, 0.0, 1e11) * 1000) : 0;
}

int mlflow_status(RunState state) {
  constexpr int running = 1, finished = 3, failed = 4, killed = 5;
  switch (state) {
    case RunState::running:
      return running;
    case RunState::finished:
      return finished;
    case RunState::failed:
      return failed;
    case RunState::stopped:
    case RunState::interrupted:
      return killed;
  }
  return killed;
}

// The experiment of that name, made where it is not there: its folder.
fs::path experiment_folder(const fs::path& store, const std::string& name, double time) {
  const std::string id = cat(1 + (hash64(name) >> 2));
  const fs::path folder = store / id;
  std::error_code ignored;
  if (!fs::exists(folder / "meta.yaml", ignored)) {
    make_directories(folder);
    write_file_atomic(
        folder / "meta.yaml",
        cat("artifact_location: ", yaml_text("file://" + fs::absolute(folder).string()),
            "\ncreation_time: ", to_ms(time), "\nexperiment_id: '", id, "'\nlast_update_time: ",
            to_ms(time), "\nlifecycle_stage: active\nname: ", yaml_text(name), "\n"));
  }
  return folder;
}

// A line "TIME VALUE STEP" per value, a file per metric.
class MlflowMetrics {
 public:
  explicit MlflowMetrics(fs::path folder) : folder_(std::move(folder)) {}

  void add(double time, std::int64_t step, const TensorboardScalar& scalar) {
    auto found = files_.find(scalar.first);
    if (found == files_.end()) {
      if (files_.size() >= most_metrics) {
        left_out_.insert(scalar.first);
        return;
      }
      const fs::path file = folder_ / names_.of(scalar.first);
      found = files_.emplace(scalar.first, std::make_unique<ExportFile>(file)).first;
    }
    const double value = scalar.second;
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    found->second->write(cat(to_ms(time), " ", std::isnan(value) ? "NaN" : text, " ", step, "\n"));
  }
  void finish() {
    for (auto& [name, file] : files_) file->finish();
  }
  std::size_t left_out() const { return left_out_.size(); }

 private:
  fs::path folder_;
  MlflowNames names_;
  std::map<std::string, std::unique_ptr<ExportFile>> files_;  // by the metric's own name
  std::set<std::string> left_out_;
};

void write_values(const fs::path& folder, const std::map<std::string, std::string>& values) {
  make_directories(folder);
  MlflowNames names;
  for (const auto& [name, value] : values) {
    const fs::path file = folder / names.of(name);
    make_directories(file.parent_path());
    write_file_atomic(file, first_bytes(mend_utf8(value), longest_value));
  }
}

std::map<std::string, std::string> options_of_record(const nlohmann::json& record) {
  std::map<std::string, std::string> options;
  if (!record.contains("config") || !record["config"].is_object()) return options;
  for (const auto& [key, value] : record["config"].items())
    options[key] = value.is_string() ? value.get<std::string>() : to_line(value);
  return options;
}

}  // namespace

WrittenExport export_mlflow(const RunDir& run, const fs::path& folder, bool replace) {
  const nlohmann::json record = run.record();
  const RunSummary summary = summarize(run);
  const std::string recipe = text_or(record, "recipe", "lockstep");
  const std::string id =
      hash128_hex(cat(run.name(), " ", to_line(record.value("started", nlohmann::json())), " ",
                      text_or(record, "host", "")));
  const fs::path experiment = experiment_folder(folder, recipe, summary.started);
  const fs::path place = experiment / id, fresh = experiment / cat(".", id);
  std::error_code ignored;
  if (fs::exists(place, ignored) && !replace)
    throw Error(cat(place.string(), " is there already"), "replace it with --force");
  fs::remove_all(fresh, ignored);
  for (const char* part : {"metrics", "params", "tags", "artifacts"})
    make_directories(fresh / part);

  WrittenExport written{.what = cat(place.parent_path().filename().string(), "/", id)};
  MlflowMetrics metrics(fresh / "metrics");
  double last = summary.started;
  std::string unit = "samples";
  for_each_effective_line(run.events_path(), [&](const std::string& line) {
    const nlohmann::json event = parse_object(line);
    last = std::max(last, number_or(event, "time", last));
    const std::string kind = text_or(event, "kind", "");
    if (kind == "start") unit = text_or(event, "unit", unit);
    const std::vector<TensorboardScalar> scalars = scalars_of_event(event, unit);
    if (scalars.empty()) return;
    ++(kind == "step" ? written.steps : written.evaluations);
    for (const TensorboardScalar& scalar : scalars)
      metrics.add(number_or(event, "time", 0), integer_or(event, "step", 0), scalar);
  });
  metrics.finish();
  written.left_out = metrics.left_out();
  write_values(fresh / "params", options_of_record(record));
  write_values(fresh / "tags", {{"mlflow.runName", run.name()},
                                {"mlflow.source.name", "lockstep"},
                                {"mlflow.source.type", "LOCAL"},
                                {"mlflow.user", ""},
                                {"lockstep.version", text_or(record, "lockstep", "")},
                                {"lockstep.state", to_string(summary.state)},
                                {"lockstep.devices", summary.devices},
                                {"lockstep.host", text_or(record, "host", "")}});
  const bool ended = summary.state != RunState::running;
  write_file_atomic(
      fresh / "meta.yaml",
      cat("artifact_uri: ", yaml_text(cat("file://", fs::absolute(place).string(), "/artifacts")),
          "\nend_time: ", ended ? cat(to_ms(last)) : "null",
          "\nentry_point_name: ''\nexperiment_id: '", experiment.filename().string(),
          "'\nlifecycle_stage: active\nrun_id: ", id, "\nrun_name: ", yaml_text(run.name()),
          "\nrun_uuid: ", id, "\nsource_name: ''\nsource_type: 4\nsource_version: ''\nstart_time: ",
          to_ms(summary.started), "\nstatus: ", mlflow_status(summary.state),
          "\ntags: []\nuser_id: ''\n"));
  fs::remove_all(place, ignored);
  fs::rename(fresh, place);
  return written;
}

}  // namespace lockstep
