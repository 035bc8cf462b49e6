#include "recipes/gbdt/train/train_window.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/version.h"
#include "recipes/gbdt/lightgbm/booster.h"
#include "recipes/gbdt/lightgbm/gpu.h"
#include "recipes/gbdt/lightgbm/leaves.h"
#include "recipes/gbdt/train/artefacts.h"
#include "recipes/gbdt/train/job_results.h"
#include "recipes/gbdt/train/labels.h"
#include "recipes/gbdt/train/stopping_metric.h"
#include "recipes/gbdt/train/telemetry.h"
#include "runtime/run/job_report.h"

namespace lockstep::gbdt {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::array teacher_keys = {std::pair{"num_leaves", "num_leaves"},
                                     std::pair{"max_depth", "max_depth"},
                                     std::pair{"n_estimators", "num_iterations"},
                                     std::pair{"learning_rate", "learning_rate"},
                                     std::pair{"min_child_samples", "min_data_in_leaf"},
                                     std::pair{"subsample", "bagging_fraction"},
                                     std::pair{"colsample_bytree", "feature_fraction"},
                                     std::pair{"gpu_use_dp", "gpu_use_dp"},
                                     std::pair{"gpu_platform_id", "gpu_platform_id"},
                                     std::pair{"gpu_device_id", "gpu_device_id"}};

// Joins the first 12 words, and adds "…" if there are more.
std::string list_text(std::vector<std::string> words) {
  constexpr std::size_t most = 12;
  const bool more = words.size() > most;
  words.resize(std::min(words.size(), most));
  return join(words, ", ") + (more ? ", …" : "");
}

// The training of one window, with the state that its steps share.
class WindowTraining {
 public:
  WindowTraining(const GbdtOptions& options, const LightGbm& library, const WindowTask& task,
                 const std::function<void(const std::string&)>& say)
      : options_(options),
        library_(library),
        task_(task),
        say_(say),
        telemetry_(task.folder, task.run_id, task.symbol) {
    if (const auto window = window_ahead()) set_window(*window);
    telemetry_.event("run_start");
  }

  WindowResult run() {
    telemetry_.event("teacher_window_start", {{"status", "running"}});
    const double begin = system_clock().now_s();
    try {
      telemetry_.phase(
          "features", [&] { load(); }, task_.loaded_ahead_s);
      if (rows_.skip.empty()) train_and_test();
    } catch (const Error& error) {
      end("failed", error.what(), system_clock().now_s() - begin);
      throw;
    }
    const bool skipped = !rows_.skip.empty();
    if (skipped) {
      result_.status = DirectResult::Status::skipped;
      result_.skip_reason = rows_.skip;
    }
    end(skipped ? "skipped" : "success", rows_.skip, system_clock().now_s() - begin);
    return std::move(result_);
  }

 private:
  void tell(const std::string& note) {
    notes_.push_back(note);
    say_(cat(label_.empty() ? task_.symbol : label_, ": ", note));
  }

  // The window if it is known already: from the task, from the options, or from prices that were
  // read ahead.
  std::optional<Window> window_ahead() const {
    if (task_.window) return task_.window;
    const auto start = options_.start_day(), end = options_.end_day();
    if (start && end) return Window{*start, *end};
    if (task_.loaded_ahead_s <= 0) return std::nullopt;
    try {
      return only_window(options_, *task_.load());
    } catch (const Error&) {  // load() will report it
      return std::nullopt;
    }
  }

  void set_window(const Window& window) {
    window_ = window;
    label_ = window_label(task_.symbol, window);
    telemetry_.set_window(label_);
  }

  void load() {
    data_ = task_.load();
    names_ = data_->features.names;
    for (const std::string& note : data_->bars.notes) tell(note);
    if (!task_.window) set_window(only_window(options_, *data_));
    if (const std::string idle = options_.idle_note(data_->bars.timeless); !idle.empty())
      tell(idle);
    tell_classes();
    take_rows();
  }

  void tell_classes() {
    const std::vector<std::string>& classes = data_->bars.classes;
    if (classes.empty() || classes == std::vector<std::string>{"0", "1"}) return;
    if (options_.learns().task == Task::binary && classes.size() == 2)
      tell(cat(options_.label_column, ": ", classes[1], " is 1, ", classes[0], " is 0"));
    else
      tell(cat(options_.label_column, ": ", classes.size(), " classes, ", list_text(classes)));
  }

  void take_rows() {
    rows_ = split_rows(data_->bars, data_->features, data_->labels, window_, options_.split());
    if (rows_.skip.empty() && rows_.test.empty() && options_.test != TestWindow::none)
      tell(data_->bars.timeless ? "no rows to test on" : "no prices after the window to test on");
    if (const std::string lost = lost_rows(data_->bars, data_->features, data_->labels, window_);
        rows_.skip.empty() && !lost.empty())
      tell(cat(lost, " and are left out: prices that do not move, or no volume yet"));
    train_ = matrix(rows_.train);
    valid_ = matrix(rows_.valid);
    if (rows_.skip.empty()) rows_.skip = nothing_to_learn(*data_, rows_.train);
  }

  Rows matrix(const std::vector<std::size_t>& rows) const {
    Rows result{.columns = static_cast<std::int32_t>(names_.size())};
    result.values.reserve(rows.size() * names_.size());
    for (const std::size_t row : rows) {
      const double* const values = data_->features.row(row);
      result.values.insert(result.values.end(), values, values + names_.size());
      result.labels.push_back(static_cast<float>(data_->labels[row]));
    }
    result.groups = group_sizes(data_->bars, rows);
    return result;
  }

  void train_and_test() {
    asked_ = resolve_parameters(library_, options_.parameters(data_->classes.size()));
    gpu_name_ = choose_gpu(library_, options_.gbdt.gpu_platform, asked_);
    if (const std::string note = few_rows_note(asked_, train_.rows()); !note.empty()) tell(note);
    tell_absent_classes();
    choose_stopping_metric();
    telemetry_.phase("training", [&] { train(); });
    telemetry_.phase("prediction", [&] { predict(); });
    telemetry_.phase("evaluation", [&] { evaluate(); });
  }

  void tell_absent_classes() {
    std::vector<std::string> absent;
    for (std::size_t i = 0; i < data_->classes.size(); ++i)
      if (std::count(train_.labels.begin(), train_.labels.end(), static_cast<float>(i)) == 0)
        absent.push_back(data_->classes[i]);
    if (!absent.empty()) tell(cat("no training row has the class ", list_text(absent)));
  }

  void choose_stopping_metric() {
    patience_ = valid_.rows() > 0 ? options_.early_stopping : 0;
    if (patience_ == 0) return;
    const auto metric = std::find_if(asked_.begin(), asked_.end(),
                                     [](const auto& one) { return one.first == "metric"; });
    if (metric == asked_.end()) return;
    stopping_ = stopping_metric(metric->second, options_.learns(), valid_, data_->classes);
    metric->second = stopping_.list;
    const std::string all_trees = ": nothing ends training before its last tree";
    if (stopping_.asked.empty()) tell(cat("metric=", metric->second, all_trees));
    if (stopping_.used.empty()) patience_ = 0;
    if (stopping_.why_blind.empty()) return;
    tell(cat(
        stopping_.asked, " cannot tell models apart on the validation rows, because ",
        stopping_.why_blind,
        stopping_.used.empty() ? all_trees : cat(": ", stopping_.used, " ends training instead")));
  }

  void train() {
    const LightGbmLog log(library_, [&](const std::string& line) {
      // appears for every tree if there are few rows
      if (line.starts_with("[Warning] No further splits")) return;
      library_lines_.push_back(line);
    });
    trained_ = train_model(library_, {.train = &train_,
                                      .valid = &valid_,
                                      .names = names_,
                                      .parameters = asked_,
                                      .iterations = options_.n_estimators,
                                      .patience = patience_});
    facts_ = read_facts(trained_.model);
    const std::vector<std::string> different = differences(asked_, facts_);
    if (different.empty()) return;
    const std::string what = cat("LightGBM did not use what was asked: ", join(different, "; "));
    if (options_.gbdt.strict) throw Error(what, "gbdt.strict=false makes it a warning");
    tell(cat("warning: ", what));
  }

  void predict() {
    const LightGbmLog log(library_,
                          [&](const std::string& line) { library_lines_.push_back(line); });
    const Model model(library_, trained_.model);
    const int threads = static_cast<int>(options_.gbdt.threads);
    const auto columns = static_cast<std::int32_t>(names_.size());
    valid_scores_ = model.predict(valid_.values, columns, threads);
    test_scores_ = model.predict(matrix(rows_.test).values, columns, threads);
    splits_ = model.split_importance();
    gains_ = model.gain_importance();
  }

  void evaluate() {
    const Objective& objective = options_.learns();
    result_.valid = measure(options_, *data_, rows_.valid, valid_scores_);
    result_.test = measure(options_, *data_, rows_.test, test_scores_);
    write_text(task_.folder / "model.txt", trained_.model);
    write_text(task_.folder / "predictions.csv",
               header_line(prediction_columns(objective, *data_)) +
                   prediction_lines(objective, *data_, label_, rows_.test, test_scores_));
    write_text(task_.folder / "feature_importance.csv", importance_csv(names_, splits_, gains_));
    write_gzip(task_.folder / "labels.csv.gz", labels_csv(*data_, rows_));
  }

  // Writes the last files and the last lines of the telemetry.
  void end(const std::string& status, const std::string& why, double seconds) {
    result_.metadata = metadata(status, why, seconds);
    write_text(task_.folder / "metadata.json", result_.metadata.dump(2) + "\n");
    report_to_batch(job_results(result_.metadata));
    write_text(task_.folder / "teacher_runs.json", ledger_line(status, why).dump() + "\n");
    const char* const kind = status == "success"   ? "teacher_window_success"
                             : status == "skipped" ? "teacher_window_skip"
                                                   : "teacher_window_fail";
    json fields = {{"status", status}, {"duration_seconds", seconds}};
    if (!why.empty()) fields["message"] = why;
    if (status == "success") fields["metrics"] = short_metrics();
    telemetry_.event(kind, fields);
    telemetry_.event("run_end", {{"status", status}, {"duration_seconds", seconds}});
  }

  json short_metrics() const {
    json metrics = {{"of", rows_.test.empty() ? "validation" : "test"}};
    const json all = to_json(rows_.test.empty() ? result_.valid : result_.test);
    for (const MetricInfo& info : all_metrics())
      if (all.contains(info.name)) metrics[info.name] = all[info.name];
    return metrics;
  }

  json sample_counts() const {
    return {{"train", rows_.train.size()},
            {"valid", rows_.valid.size()},
            {"test", rows_.test.size()},
            {"embargoed", rows_.embargoed}};
  }

  json metadata(const std::string& status, const std::string& why, double seconds) const {
    json record = {{"status", status},
                   {"symbol", task_.symbol},
                   {"window_label", label_},
                   {"date_range", date_range()},
                   {"lockstep", version()},
                   {"options", recorded_options(options_, task_.batch_options)},
                   {"seconds", seconds},
                   {"phases", telemetry_.seconds()},
                   {"sample_counts", sample_counts()},
                   {"features", names_},
                   {"objective", options_.learns().name},
                   {"label", label_json()},
                   {"data", data_json()},
                   {"notes", notes_},
                   {"library", library_json()}};
    if (options_.computes_features()) record["feature_set"] = options_.table.get("feature_set");
    if (!why.empty()) record[status == "skipped" ? "skip_reason" : "error"] = why;
    if (trained_.model.empty()) return record;
    const TreeSizes& sizes = facts_.trees;
    record["parameters"] = {{"asked", asked_json()}, {"used", facts_.parameters}};
    record["model"] = {{"trees", sizes.trees},
                       {"trees_hash", facts_.trees_hash},
                       {"most_leaves", sizes.most_leaves},
                       {"mean_leaves", sizes.mean_leaves},
                       {"deepest", sizes.deepest},
                       {"iterations", trained_.iterations},
                       {"best_iteration", trained_.best_iteration},
                       {"ended_by", to_string(trained_.end)},
                       {"metric", trained_.metric}};
    if (!stopping_.why_blind.empty()) {
      record["model"]["metric_asked"] = stopping_.asked;
      if (stopping_.used.empty()) record["model"]["metric"] = "";
    }
    if (trained_.best_iteration > 0 && !trained_.curve.empty())
      record["model"]["best_value"] =
          trained_.curve[static_cast<std::size_t>(trained_.best_iteration - 1)];
    if (status != "success") return record;
    record["metrics"] = {{"validation", to_json(result_.valid)}};
    if (!rows_.test.empty()) record["metrics"]["test"] = to_json(result_.test);
    record["metrics"]["intervals"] =
        "95 %, in closed form; rows taken for independent, though labels may overlap";
    return record;
  }

  json library_json() const {
    json library = {{"name", "LightGBM"},
                    {"version", library_.version()},
                    {"path", library_.path().string()},
                    {"device", value_of(asked_, "device_type", "cpu")},
                    {"messages", library_lines_}};
    if (gpu_name_.empty()) return library;
    library["gpu_name"] = gpu_name_;
    if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES")) library["gpu"] = visible;
    return library;
  }

  json label_json() const {
    json label = {{"horizon_bars", options_.horizon}, {"rule", label_rule(options_)}};
    if (options_.label_column.empty())
      label["threshold"] = options_.threshold;
    else
      label["column"] = options_.label_column;
    if (!options_.group_column.empty()) label["group"] = options_.group_column;
    if (data_ != nullptr && !data_->classes.empty()) label["classes"] = data_->classes;
    return label;
  }

  json data_json() const {
    json data = {{"made", options_.made()}, {"path", options_.data.path}};
    if (data_ == nullptr) return data;
    data["hash"] = data_->bars.hash;
    data["bars"] = data_->bars.size();
    data["has_time"] = !data_->bars.timeless;
    if (!data_->bars.timeless) data["first"] = data_->bars.stamps.front();
    return data;
  }

  json asked_json() const {
    json asked = json::object();
    for (const auto& [name, value] : asked_) asked[name] = value;
    return asked;
  }

  json date_range() const { return {{"start", start_text(window_)}, {"end", end_text(window_)}}; }

  ordered_json ledger_line(const std::string& status, const std::string& why) const {
    ordered_json line;
    line["batch_id"] = task_.batch_id;
    line["symbol"] = task_.symbol;
    line["date_range"] = {{"start", start_text(window_)}, {"end", end_text(window_)}};
    line["window_label"] = label_;
    const bool moves = status == "success" && !task_.published.empty();
    line["artifacts_path"] =
        std::filesystem::absolute(moves ? task_.published : task_.folder).string();
    line["metrics"] = status == "success" ? ordered_json(short_metrics()) : ordered_json();
    line["status"] = status;
    line["timestamp"] = iso_time(system_clock().wall_s());
    line["incremental"] = false;
    line["attempts"] = task_.attempt;
    line["sample_counts"] = sample_counts();
    if (status == "skipped") line["skip_reason"] = why;
    if (status == "failed") line["error"] = why;
    line["feature_set"] = names_;
    // The booster's values if there is a booster. Otherwise the values that were asked for.
    const auto& used = facts_.parameters;
    ordered_json teacher;
    for (const auto& [name, canonical] : teacher_keys) {
      const auto found = used.find(canonical);
      const std::string value =
          found != used.end() ? found->second : value_of(asked_, canonical, "");
      teacher[name] = value.empty() ? ordered_json() : ordered_json::parse(value, nullptr, false);
    }
    line["teacher_hyperparameters"] = teacher;
    return line;
  }

  const GbdtOptions& options_;
  const LightGbm& library_;
  const WindowTask& task_;
  const std::function<void(const std::string&)>& say_;
  std::string label_;  // set once the window is known
  Window window_;
  std::shared_ptr<const SymbolData> data_;
  Telemetry telemetry_;
  std::vector<std::string> names_;  // names of the features
  WindowRows rows_;
  Rows train_, valid_;
  Parameters asked_;
  std::string gpu_name_;
  StoppingMetric stopping_;
  std::int64_t patience_ = 0;  // number of trees; 0 = no early stopping
  Trained trained_;
  ModelFacts facts_;  // facts from the model's text
  std::vector<double> valid_scores_, test_scores_, splits_, gains_;
  WindowResult result_;
  std::vector<std::string> notes_, library_lines_;
};

}  // namespace

WindowResult train_window(const GbdtOptions& options, const LightGbm& library,
                          const WindowTask& task,
                          const std::function<void(const std::string&)>& say) {
  return WindowTraining(options, library, task, say).run();
}

}  // namespace lockstep::gbdt
