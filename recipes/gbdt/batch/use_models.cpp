// lockstep evaluate and predict: models of windows, on rows that are there now.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "recipes/gbdt/batch/tables.h"
#include "recipes/gbdt/lightgbm/booster.h"
#include "recipes/gbdt/train/artefacts.h"
#include "recipes/gbdt/train/train_window.h"
#include "run/item_table.h"

namespace lockstep::gbdt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// What may be another than in training: where the rows are, and what is asked of them.
const std::set<std::string> changeable = {"data.path", "symbol",    "start",        "end",
                                          "horizon",   "threshold", "gbdt.library", "gbdt.threads"};

// A window as it was trained, with what is given anew.
struct TrainedWindow {
  fs::path folder;
  std::string label;
  Window window;
  GbdtOptions options;
};

std::unique_ptr<TrainedWindow> read_window(const fs::path& folder,
                                           const std::vector<std::string>& assignments) {
  auto trained = std::make_unique<TrainedWindow>();
  const fs::path file = folder / "metadata.json";
  try {
    const json data = parse_json(read_file(file));
    trained->folder = folder;
    trained->label = data.at("window_label").get<std::string>();
    trained->window = {parse_day(data.at("date_range").at("start").get<std::string>()).value(),
                       parse_day(data.at("date_range").at("end").get<std::string>()).value()};
    for (const auto& [key, value] : data.at("options").items())
      if (trained->options.table.has(key)) trained->options.table.set_json(key, value);
    trained->options.table.set("symbol", data.at("symbol").get<std::string>());
  } catch (const std::exception& error) {
    throw Error(cat(file.string(), " cannot be read: ", error.what()));
  }
  for (const std::string& word : assignments) {
    const std::size_t equals = word.find('=');
    const std::string key = trim(word.substr(0, equals));
    if (trained->options.table.has(key) && !changeable.contains(key))
      throw Error(cat(key, " is what the model was trained with, and cannot be another now"));
    if (key != "start" && key != "end") trained->options.table.set(key, word.substr(equals + 1));
  }
  trained->options.table.make_paths_absolute(fs::current_path());
  return trained;
}

// The days whose rows are used.
Window days_of(const TrainedWindow& trained, const DirectUse& use) {
  constexpr Day no_end = std::numeric_limits<Day>::max();
  const Day length = trained.window.end - trained.window.start;
  Window days{trained.window.end, use.predicts ? no_end : trained.window.end + length};
  for (const std::string& word : use.assignments) {
    const std::size_t equals = word.find('=');
    const std::string key = trim(word.substr(0, equals)), text = trim(word.substr(equals + 1));
    if (key != "start" && key != "end") continue;
    const auto day = parse_day(text);
    if (!day) throw Error(cat(key, " must be a day such as 2022-01-31, but is ", text));
    (key == "start" ? days.start : days.end) = *day;
  }
  return days;
}

// Prices of a symbol are read once for all its windows.
class Symbols {
 public:
  std::shared_ptr<const SymbolData> of(const GbdtOptions& options) {
    const std::string key =
        cat(options.symbol, "|", options.data.path, "|", options.horizon, "|", options.threshold,
            "|", join(options.features, ","), "|", options.label_column,
            options.made() ? cat("|", options.start, "|", options.end) : "");
    std::shared_ptr<const SymbolData>& data = known_[key];
    if (data == nullptr) data = load_symbol(options, options.symbol);
    return data;
  }

 private:
  std::map<std::string, std::shared_ptr<const SymbolData>> known_;
};

struct Used {
  std::vector<std::size_t> rows;
  std::vector<double> scores;
};

Used predict(const LightGbm& library, const TrainedWindow& trained, const SymbolData& data,
             const Window& days) {
  Used used;
  const FeatureTable& features = data.features;
  std::vector<double> values;
  for (std::size_t row = 0; row < data.bars.size(); ++row) {
    const Day day = data.bars.days[row];
    if (day < days.start || day >= days.end || !features.complete(row)) continue;
    used.rows.push_back(row);
    values.insert(values.end(), features.row(row), features.row(row) + features.columns());
  }
  const LightGbmLog log(library, [](const std::string&) {});
  const Model model(library, read_file(trained.folder / "model.txt"));
  used.scores = model.predict(values, static_cast<std::int32_t>(features.columns()),
                              static_cast<int>(trained.options.gbdt.threads));
  return used;
}

BinaryMetrics metrics_of(const Used& used, const SymbolData& data) {
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
  for (std::size_t i = 0; i < used.rows.size(); ++i) {
    const double label = data.labels[used.rows[i]];
    if (std::isnan(label)) continue;
    scores.push_back(used.scores[i]);
    labels.push_back(label != 0);
  }
  return binary_metrics(scores, labels);
}

std::string lines_of(const TrainedWindow& trained, const SymbolData& data, const Used& used) {
  std::string text;
  for (std::size_t i = 0; i < used.rows.size(); ++i) {
    const double label = data.labels[used.rows[i]];
    text += csv_line({data.bars.stamps[used.rows[i]], data.bars.symbol, trained.label,
                      std::isnan(label) ? Cell{} : Cell{static_cast<std::int64_t>(label)},
                      used.scores[i]});
  }
  return text;
}

std::string use_models(const DirectUse& use) {
  Symbols symbols;
  BatchRecords records;
  std::string predictions = "timestamp,symbol,window,label,probability\n";
  std::unique_ptr<LightGbm> library;
  std::size_t rows = 0;
  for (const fs::path& folder : use.folders) {
    const auto trained = read_window(folder, use.assignments);
    if (library == nullptr)
      library = std::make_unique<LightGbm>(find_lightgbm(trained->options.gbdt.library));
    const auto data = symbols.of(trained->options);
    const Window days = days_of(*trained, use);
    const Used used = predict(*library, *trained, *data, days);
    rows += used.rows.size();
    if (use.predicts) {
      predictions += lines_of(*trained, *data, used);
      continue;
    }
    WindowRecord record{.folder = folder,
                        .symbol = trained->options.symbol,
                        .label = trained->label,
                        .start = to_text(trained->window.start),
                        .end = to_text(trained->window.end),
                        .status = "success"};
    record.metadata = parse_json(read_file(folder / "metadata.json"));
    record.metrics = metrics_of(used, *data);
    if (record.metrics->counts.rows() == 0) record.metrics.reset();
    records.windows.push_back(std::move(record));
  }
  if (rows == 0)
    throw Error("there is no row to use after the windows of training",
                "give start=DAY and end=DAY, or data.path=DIR with later prices");
  if (!use.predicts) return batch_text(records, setting_results(records));
  write_file_atomic(use.out, predictions);
  return cat(rows, " rows of ", use.folders.size(),
             use.folders.size() == 1 ? " window" : " windows", " in ", use.out.string());
}

[[maybe_unused]] const bool use_linked = [] {
  trainer.use = use_models;
  return true;
}();

}  // namespace
}  // namespace lockstep::gbdt
