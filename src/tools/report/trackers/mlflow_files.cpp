#include "tools/report/trackers/mlflow_files.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/media/csv_table.h"
#include "runtime/run/events/json_lines.h"
#include "tools/report/trackers/mlflow_log.h"
#include "tools/report/trackers/plain_yaml.h"
#include "tools/report/trackers/tracked_facts.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t meta_bytes = 1 << 20, parameter_bytes = 1 << 20;
// files of one run; MLflow itself writes a few hundred at most
constexpr std::size_t most_files = 10'000;

using Meta = std::map<std::string, std::string>;

std::string of_meta(const Meta& meta, const char* key) {
  const auto found = meta.find(key);
  return found == meta.end() ? std::string() : found->second;
}

// Reads meta.yaml. Empty if the file is missing or unreadable.
Meta read_meta(const fs::path& folder) try {
  std::error_code ignored;
  if (!fs::is_regular_file(folder / "meta.yaml", ignored)) return {};
  return plain_yaml(read_file(folder / "meta.yaml", meta_bytes));
} catch (const Error&) {
  return {};
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) folders.push_back(entry->path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

bool is_experiment_meta(const Meta& meta) {
  return meta.contains("experiment_id") && meta.contains("name") && !meta.contains("run_id") &&
         !meta.contains("run_uuid");
}

bool is_run_meta(const Meta& meta) { return meta.contains("run_id") || meta.contains("run_uuid"); }

std::string state_of_status(const std::string& status) {
  static const std::map<std::string, std::string> states = {
      {"1", "running"}, {"2", "scheduled"}, {"3", "finished"}, {"4", "failed"}, {"5", "killed"}};
  const auto state = states.find(status);
  return state == states.end() ? status : state->second;
}

double seconds_of_ms(const std::string& text) {
  const std::optional<std::int64_t> ms = whole_number(text);
  return ms ? static_cast<double>(*ms) / 1000 : NAN;
}

// Files in a folder and its subfolders, by relative name such as "val/loss". Links are not
// followed.
std::map<std::string, fs::path> files_by_name(const fs::path& folder, bool& all) {
  std::map<std::string, fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_symlink(ignored) || !entry->is_regular_file(ignored)) continue;
    if (files.size() == most_files) {
      all = false;
      break;
    }
    files[entry->path().lexically_relative(folder).generic_string()] = entry->path();
  }
  return files;
}

// Parses "TIME VALUE STEP". Older versions write no step. Newer versions add two words about the
// data set.
std::optional<MlflowValue> value_of_line(const std::string& line) {
  const std::vector<std::string> words = split(trim(line), ' ');
  if (words.size() < 2) return std::nullopt;
  const std::optional<std::int64_t> time = whole_number(words[0]),
                                    step = words.size() < 3 ? std::optional<std::int64_t>(0)
                                                            : whole_number(words[2], INT64_MIN);
  const std::optional<double> value = to_number(words[1]);
  if (!time || !step || !value) return std::nullopt;
  return MlflowValue{.time_ms = static_cast<double>(*time), .step = *step, .value = *value};
}

class MlflowFiles final : public TrackerStore {
 public:
  explicit MlflowFiles(fs::path folder) : folder_(std::move(folder)) {}

  std::string kind() const override { return "MLflow"; }

  std::vector<TrackedRun> runs() override {
    std::vector<TrackedRun> runs;
    if (const Meta meta = read_meta(folder_); is_experiment_meta(meta))
      add_runs(folder_, of_meta(meta, "name"), runs);
    else
      for (const MlflowExperiment& experiment : mlflow_experiments(folder_))
        if (!experiment.deleted) add_runs(experiment.folder, experiment.name, runs);
    std::stable_sort(runs.begin(), runs.end(), [](const TrackedRun& a, const TrackedRun& b) {
      return a.started < b.started;
    });
    return runs;
  }

  void read(const TrackedRun& run, Trial& trial) override {
    const fs::path& folder = folders_.at(run.id);
    MlflowLog log;
    bool all = true;
    std::int64_t damaged = 0;
    for (const auto& metric : files_by_name(folder / "metrics", all))
      for_each_line(metric.second, [&](const std::string& line) {
        if (const std::optional<MlflowValue> value = value_of_line(line))
          log.add(metric.first, *value);
        else
          ++damaged;
      });
    log.set_starts(marks_of_text(read_tag(folder, "lockstep.starts")));
    std::move(log).finish(trial);
    for (const auto& [name, file] : files_by_name(folder / "params", all))
      add_parameter(name, trim(read_file(file, parameter_bytes)), trial);
    add_mlflow_code(read_tag(folder, "mlflow.source.git.commit"), trial);
    if (damaged > 0) trial.cautions.push_back(cat(damaged, " damaged lines of it are left out"));
    if (!all)
      trial.cautions.push_back(cat("what it has more than ", most_files, " of is left out"));
  }

 private:
  void add_runs(const fs::path& experiment, const std::string& name,
                std::vector<TrackedRun>& runs) {
    for (const fs::path& folder : folders_in(experiment)) {
      const Meta meta = read_meta(folder);
      if (!is_run_meta(meta) || of_meta(meta, "lifecycle_stage") == "deleted") continue;
      TrackedRun run{.id = folder.filename().string(),
                     .name = of_meta(meta, "run_name"),
                     .experiment = name,
                     .state = state_of_status(of_meta(meta, "status")),
                     .started = seconds_of_ms(of_meta(meta, "start_time"))};
      if (std::isnan(run.started)) run.started = 0;
      if (run.name.empty()) run.name = read_tag(folder, "mlflow.runName");
      folders_[run.id] = folder;
      runs.push_back(std::move(run));
    }
  }

  static std::string read_tag(const fs::path& folder, const char* tag) try {
    std::error_code ignored;
    const fs::path file = folder / "tags" / tag;
    return fs::is_regular_file(file, ignored) ? trim(read_file(file, parameter_bytes)) : "";
  } catch (const Error&) {
    return "";
  }

  fs::path folder_;
  std::map<std::string, fs::path> folders_;  // key: id of the run
};

}  // namespace

std::vector<MlflowExperiment> mlflow_experiments(const fs::path& store) {
  std::vector<MlflowExperiment> experiments;
  const auto add = [&](const fs::path& folder, bool deleted) {
    const Meta meta = read_meta(folder);
    if (is_experiment_meta(meta))
      experiments.push_back({folder, of_meta(meta, "experiment_id"), of_meta(meta, "name"),
                             deleted || of_meta(meta, "lifecycle_stage") == "deleted"});
  };
  for (const fs::path& folder : folders_in(store)) {
    if (folder.filename() != ".trash") {
      add(folder, false);
      continue;
    }
    for (const fs::path& gone : folders_in(folder)) add(gone, true);
  }
  return experiments;
}

bool is_mlflow_store(const fs::path& folder) {
  const std::vector<fs::path> folders = folders_in(folder);
  return std::any_of(folders.begin(), folders.end(),
                     [](const fs::path& one) { return is_experiment_meta(read_meta(one)); });
}

bool is_mlflow_experiment(const fs::path& folder) { return is_experiment_meta(read_meta(folder)); }

bool is_mlflow_run(const fs::path& folder) { return is_run_meta(read_meta(folder)); }

std::unique_ptr<TrackerStore> open_mlflow_files(const fs::path& folder) {
  return std::make_unique<MlflowFiles>(folder);
}

}  // namespace lockstep
