// lockstep evaluate and predict: applies the models of windows to rows of today's files.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "recipes/gbdt/bars/symbols.h"
#include "recipes/gbdt/batch/predictions.h"
#include "recipes/gbdt/batch/since_training.h"
#include "recipes/gbdt/batch/tables.h"
#include "recipes/gbdt/lightgbm/booster.h"
#include "recipes/gbdt/train/artefacts.h"
#include "recipes/gbdt/train/labels.h"
#include "recipes/gbdt/train/train_window.h"
#include "runtime/run/predictions/item_table.h"

namespace lockstep::gbdt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Options that may differ from training. They choose the rows, their labels and the way to compute.
const std::set<std::string> changeable = {
    "data.path", "symbol",       "start",         "end",        "horizon",
    "threshold", "gbdt.library", "symbol_column", "date_order", "gbdt.threads"};

// A window as it was trained, with the options that the user gave anew.
struct TrainedWindow {
  fs::path folder;
  std::string label;
  Window window;
  std::vector<std::string> classes;  // the classes of its label
  std::vector<std::string> features;
  std::string data_hash, data_path;  // of the training data
  bool data_is_made = false;
  GbdtOptions options;
};

// Checks that the options for the rows are valid and have an effect.
void check_given(const GbdtOptions& options) {
  if (!options.label_column.empty() && options.table.is_given("horizon"))
    throw Error(cat("horizon does nothing: the label is the column ", options.label_column));
  options.check();
}

// Checks that the features to compute are those on which the model was trained.
void check_set(const GbdtOptions& options, const std::vector<std::string>& recorded) {
  const auto& names = feature_names(options.feature_set);
  const auto is_known = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (options.computes_features() && !std::all_of(recorded.begin(), recorded.end(), is_known))
    throw Error(cat("its features are not those of feature_set=", options.table.get("feature_set"),
                    ": ", join(recorded, ", ")));
}

std::unique_ptr<TrainedWindow> read_window(const WindowRecord& record,
                                           const std::vector<std::string>& assignments) {
  auto trained = std::make_unique<TrainedWindow>();
  const json& data = record.metadata;
  try {
    trained->folder = record.folder;
    trained->label = record.label;
    trained->window = window_of(record);
    trained->classes = data.at("label").value("classes", trained->classes);
    trained->data_hash = data.at("data").value("hash", "");
    trained->data_path = data.at("data").value("path", "");
    trained->data_is_made = data.at("data").value("made", false);
    set_recorded(record, trained->options);
    // The names and the order of training apply, even if a list of columns has changed since.
    trained->features = data.at("features").get<std::vector<std::string>>();
    if (!trained->options.features.empty()) trained->options.features = trained->features;
    check_set(trained->options, trained->features);
  } catch (const std::exception& error) {
    throw Error(cat((record.folder / "metadata.json").string(), " cannot be read: ", error.what()));
  }
  for (const std::string& word : assignments) {
    const std::size_t equals = word.find('=');
    const std::string key = trim(word.substr(0, equals));
    if (trained->options.table.has(key) && !changeable.contains(key))
      throw Error(cat(key, " is what the model was trained with, and cannot be another now"));
    if (key != "start" && key != "end") trained->options.table.set(key, word.substr(equals + 1));
  }
  check_given(trained->options);
  trained->options.table.make_paths_absolute(fs::current_path());
  return trained;
}

// The range of days whose rows are used.
Window days_of(const TrainedWindow& trained, const DirectUse& use) {
  constexpr Day no_end = std::numeric_limits<Day>::max();
  const Day length = trained.window.end - trained.window.start;
  Window days{trained.window.end, use.predicts ? no_end : trained.window.end + length,
              trained.window.is_everything};
  for (const std::string& word : use.assignments) {
    const std::size_t equals = word.find('=');
    const std::string key = trim(word.substr(0, equals)), text = trim(word.substr(equals + 1));
    if (key != "start" && key != "end") continue;
    const auto day = parse_day(text);
    if (!day) throw Error(cat(key, " must be a day such as 2022-01-31, but is ", text));
    if (days.is_everything)
      throw Error(cat(key, "=", text, ": the model of ", trained.label, " knows no time"));
    (key == "start" ? days.start : days.end) = *day;
  }
  return days;
}

// Caches the prices of a symbol for all its windows.
class Symbols {
 public:
  std::shared_ptr<const SymbolData> of(const TrainedWindow& trained, bool predicts) {
    const GbdtOptions& options = trained.options;
    const std::string key =
        cat(options.objective, "|", options.group_column, "|", options.time_column, "|",
            join(trained.classes, ","), "|", options.symbol, "|", options.data.path, "|",
            options.horizon, "|", options.threshold, "|", join(trained.features, ","), "|",
            options.label_column, "|", options.symbol_column, "|", options.table.get("date_order"),
            "|", options.table.get("feature_set"),
            options.made() ? cat("|", options.start, "|", options.end, "|", options.data.made_seed,
                                 "|", options.data.made_rows)
                           : "");
    std::shared_ptr<const SymbolData>& data = known_[key];
    if (data == nullptr) {
      LoadHow how{.label_optional = predicts};
      if (!options.label_column.empty()) how.classes = trained.classes;
      if (options.features.empty()) how.features = trained.features;
      data = load_symbol(options, options.symbol, how);
    }
    return data;
  }

 private:
  std::map<std::string, std::shared_ptr<const SymbolData>> known_;
};

struct Used {
  std::vector<std::size_t> rows;
  std::vector<double> scores;
  // Rows without some computed features. at_the_beginning: rows that are too near the first bar of
  // the file. without_features: all others.
  std::size_t at_the_beginning = 0, without_features = 0;
};

// The rows to use if data have no time. For the training data, these are the test rows. For other
// data, all rows with complete features.
std::vector<std::size_t> timeless_rows(const TrainedWindow& trained, const SymbolData& data) {
  std::vector<std::size_t> rows;
  if (data.bars.hash == trained.data_hash)
    return split_rows(data.bars, data.features, data.labels, trained.window,
                      trained.options.split())
        .test;
  for (std::size_t row = 0; row < data.bars.size(); ++row)
    if (data.features.complete(row)) rows.push_back(row);
  return rows;
}

void take_rows(const TrainedWindow& trained, const SymbolData& data, const Window& days,
               Used& used) {
  if (data.bars.timeless != trained.window.is_everything)
    throw Error(cat(data.bars.symbol, data.bars.timeless ? " has no time" : " has a time",
                    ", unlike what the model was trained on"),
                "name the column of the time as in training");
  if (days.is_everything) {
    used.rows = timeless_rows(trained, data);
    return;
  }
  for (std::size_t row = 0; row < data.bars.size(); ++row) {
    const Day day = data.bars.days[row];
    if (day < days.start || day >= days.end) continue;
    if (data.features.complete(row))
      used.rows.push_back(row);
    else
      ++(row < data.features.warm_up ? used.at_the_beginning : used.without_features);
  }
}

Used predict(const LightGbm& library, const TrainedWindow& trained, const SymbolData& data,
             const Window& days) {
  Used used{.rows = {}, .scores = {}};
  take_rows(trained, data, days, used);
  const FeatureTable& features = data.features;
  std::vector<double> values;
  for (const std::size_t row : used.rows)
    values.insert(values.end(), features.row(row), features.row(row) + features.columns());
  const LightGbmLog log(library, [](const std::string&) {});
  const Model model(library, read_file(trained.folder / "model.txt", data_bytes));
  used.scores = model.predict(values, static_cast<std::int32_t>(features.columns()),
                              static_cast<int>(trained.options.gbdt.threads));
  return used;
}

// Collects notes for the user on all windows. Equal lines appear once.
class Notes {
 public:
  void add(const TrainedWindow& trained, const WindowRecord& record, const SymbolData& data,
           const Used& used) {
    since_.add(record, trained.options, data, used.rows, used.scores);
    rows_ += used.rows.size();
    without_features_ += used.without_features;
    at_the_beginning_ += used.at_the_beginning;
    if (!trained.options.label_column.empty()) note_labels(trained, data, used);
    if (trained.options.made())
      lines_.insert(made_note(trained.options.data.made_rows > 0));
    else if (trained.data_is_made)
      lines_.insert("the models learnt from data that are made, with a planted signal");
    const Window& window = trained.window;
    if (window.is_everything) {
      const bool is_other_symbol =
          has_symbol_column(trained.options.symbol_column) && data.bars.symbol != record.symbol;
      if (data.bars.hash != trained.data_hash && !is_other_symbol &&
          trained.options.data.path == trained.data_path)
        lines_.insert(cat(trained.data_path,
                          " has changed since training: all its rows are used, also those that "
                          "the model learnt from"));
      return;
    }
    for (const std::size_t row : used.rows)
      if (data.bars.days[row] >= window.start && data.bars.days[row] < window.end) ++learnt_;
  }

  std::string text() const {
    std::string text;
    if (learnt_ > 0)
      text = cat("note: ", learnt_, " of the ", rows_,
                 " rows lie in the window of training: they are no test\n");
    if (at_the_beginning_ > 0)
      text += cat("note: ", at_the_beginning_, at_the_beginning_ == 1 ? " row has" : " rows have",
                  " no prediction, because too few bars of the file lie before: ", warm_up_bars,
                  " are enough\n");
    if (without_features_ > 0)
      text += cat("note: ", without_features_, without_features_ == 1 ? " row has" : " rows have",
                  " no prediction, because a feature is not defined there: it divides by a volume "
                  "or a move of 0\n");
    for (const std::string& line : lines_) text += cat("note: ", line, "\n");
    for (const std::string& line : since_.notes()) text += cat("note: ", line, "\n");
    return text;
  }

 private:
  // Data without a label column get no note, because that is usual for rows to predict.
  void note_labels(const TrainedWindow& trained, const SymbolData& data, const Used& used) {
    const auto missing = std::count_if(used.rows.begin(), used.rows.end(), [&](std::size_t row) {
      return std::isnan(data.labels[row]);
    });
    if (missing > 0 && !data.bars.labels.empty())
      lines_.insert(cat(data.bars.symbol, ": ", missing, missing == 1 ? " row has" : " rows have",
                        " no label of ", trained.options.label_column));
  }

  std::set<std::string> lines_;
  SinceTraining since_;
  std::size_t without_features_ = 0, at_the_beginning_ = 0;  // numbers of rows
  std::size_t rows_ = 0, learnt_ = 0;  // learnt_: rows in the window of training
};

Predictions predictions_of(const TrainedWindow& trained, const WindowRecord& record,
                           const SymbolData& data, const Used& used) {
  const Objective& objective = trained.options.learns();
  return {
      .window = &record,
      .columns = prediction_columns(objective, data),
      .lines = csv_lines(prediction_lines(objective, data, trained.label, used.rows, used.scores))};
}

// The value that the user gave for an option; nothing if the value of training applies.
std::optional<std::string> given(const DirectUse& use, std::string_view key) {
  for (const std::string& word : use.assignments)
    if (const std::size_t equals = word.find('='); trim(word.substr(0, equals)) == key)
      return word.substr(equals + 1);
  return std::nullopt;
}

// Throws Error if one file is given for models of several symbols and it cannot serve them all.
void check_symbols(const DirectUse& use, const BatchRecords& records) {
  const auto path = given(use, "data.path");
  if (!path || given(use, "symbol")) return;
  std::set<std::string> symbols;
  for (const WindowRecord& record : records.windows) symbols.insert(record.symbol);
  if (symbols.size() < 2) return;
  GbdtOptions options;
  set_recorded(records.windows.front(), options);
  check_one_file(symbols, *path, given(use, "symbol_column").value_or(options.symbol_column));
}

std::string use_models(const DirectUse& use) {
  const KeepCells kept;
  Symbols symbols;
  BatchRecords records = read_records(use.folders);
  std::vector<Predictions> predictions;
  std::unique_ptr<LightGbm> library;
  std::size_t rows = 0;
  bool timeless = false;
  Notes notes;
  check_symbols(use, records);
  for (WindowRecord& record : records.windows) {
    const auto trained = read_window(record, use.assignments);
    if (library == nullptr)
      library = std::make_unique<LightGbm>(find_lightgbm(trained->options.gbdt.library));
    const auto data = symbols.of(*trained, use.predicts);
    const Used used = predict(*library, *trained, *data, days_of(*trained, use));
    rows += used.rows.size();
    timeless = timeless || trained->window.is_everything;
    notes.add(*trained, record, *data, used);
    if (use.predicts) {
      predictions.push_back(predictions_of(*trained, record, *data, used));
      continue;
    }
    record.metrics = measure(trained->options, *data, used.rows, used.scores);
    if (record.metrics->rows == 0) record.metrics.reset();
  }
  if (rows == 0 && timeless)
    throw Error("there is no row to use: the models were trained without a test",
                "give data.path=NEW.csv with other rows");
  if (rows == 0)
    throw Error("there is no row to use after the windows of training",
                "give start=DAY and end=DAY, or data.path=DIR with later prices");
  if (!use.predicts) return batch_text(records, setting_results(records)) + notes.text();
  write_file_atomic(use.out, all_predictions(records, predictions));
  return cat(notes.text(), rows, " rows of ", use.folders.size(),
             use.folders.size() == 1 ? " window" : " windows", " in ", use.out.string());
}

[[maybe_unused]] const bool use_linked = [] {
  trainer.use = use_models;
  return true;
}();

}  // namespace
}  // namespace lockstep::gbdt
