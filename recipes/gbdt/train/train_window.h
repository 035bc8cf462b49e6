// Trains one window: from prices to a tested model, with all files that are kept of it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "recipes/gbdt/metrics/metrics.h"
#include "recipes/gbdt/options/gbdt_options.h"

namespace lockstep::gbdt {

// The prices of a symbol with their features, computed once for all its windows.
struct SymbolData {
  Bars bars;
  FeatureTable features;
  std::vector<double> returns;  // over the horizon; NaN: unknown; without prices always NaN
  std::vector<double> labels;   // learned values; NaN: none; for classes, indexes into `classes`
  std::vector<std::string> classes{};  // empty: labels are numbers
};
// How to load data on which a trained model is used.
struct LoadHow {
  std::vector<std::string> classes{};  // the model's classes; empty: those of the file
  bool label_optional = false;         // the column of labels may be absent or hold none
  // computed features of the model; empty: all that can be computed
  std::vector<std::string> features{};
};
// Reads or generates the data. Throws Error.
std::shared_ptr<const SymbolData> load_symbol(const GbdtOptions& options, const std::string& symbol,
                                              const LoadHow& how = {});
// The symbols of a batch: options.symbols (or the lines of the one file that it names), else all of
// data.path, else the generated ones. Each is listed once. Throws Error; with generated prices,
// only the generated symbols are accepted. Whether a symbol has a file is checked when it is
// loaded.
std::vector<std::string> batch_symbols(const GbdtOptions& options);
// The symbols that options.symbols, or its file, names more than once. Throws Error.
std::vector<std::string> repeated_symbols(const GbdtOptions& options);
// Throws Error if several symbols would be read from one file that does not distinguish them.
void check_one_file(const std::set<std::string>& symbols, const std::filesystem::path& path,
                    const std::string& symbol_column);
// The symbol of `lockstep train`: options.symbol, else the first of a batch. Throws Error.
std::string first_symbol(const GbdtOptions& options);
// Tells a person that the symbol is the first of several. "" if it was named or generated, or is
// the only one.
std::string first_symbol_note(const GbdtOptions& options);

// A window of a batch. If the prices show that it cannot be trained, it has the reason.
struct PlannedWindow {
  std::string symbol;
  Window window;
  std::string skip;                // "": nothing is against it
  std::int64_t train_rows = 0;     // if it is trained
  std::optional<Day> last_test{};  // the last day on which it is tested; nothing: it is not tested
};
// All windows of a batch, symbol by symbol. With test=full, those without a full test window are
// left out. left_out: receives a line "SYMBOL: WHY" for each symbol whose file does not exist or
// cannot be read, or whose days have no room for a window. If it is null, such a file is an Error.
// Throws Error, also if no symbol is left. Reads the prices of each symbol.
std::vector<PlannedWindow> plan_windows(const GbdtOptions& options,
                                        std::vector<std::string>* left_out = nullptr);
// The window of `lockstep train`: from start (or the first day with enough bars before it) to end
// (or window_days later). Throws Error if the prices contain no such window.
Window only_window(const GbdtOptions& options, const SymbolData& data);

struct WindowTask {
  std::string symbol;
  std::optional<Window> window;  // nothing: `only_window`
  // Loads the symbol's prices by load_symbol, or returns those that an earlier window of the symbol
  // loaded. Its time counts as that of the features, and its Error as this window's.
  std::function<std::shared_ptr<const SymbolData>()> load;
  double loaded_ahead_s = 0;          // time spent on loading them earlier, for this window
  std::filesystem::path folder;       // must exist; files in it are replaced
  std::filesystem::path published{};  // folder of these files after a success; empty: the same
  std::string batch_id;               // "" : none
  std::string batch_options{};        // as in recorded_options
  std::string run_id;                 // in the telemetry's name: a plain file name
  std::int64_t attempt = 1;
};

struct WindowResult {
  DirectResult::Status status = DirectResult::Status::success;
  std::string skip_reason;
  Metrics test, valid;      // test: on the following window, if there is one
  nlohmann::json metadata;  // as written to metadata.json
};

// Writes into the folder
//   model.txt               LightGBM's own text format
//   labels.csv.gz           timestamp,split,close,forward_return,label: a row per bar in use
//   predictions.csv         timestamp,symbol,window,label and the predictions for the test rows
//   feature_importance.csv  feature,importance,rank,gain: by splits
//   metadata.json           what was requested and used, rows, trees, metrics, times, library, data
//   teacher_runs.json       one line of JSON: the entry of a run ledger
//   training_run_ID.jsonl   telemetry
// For a skipped window, only the last three are written. After a failure, throws Error once lines
// with the status "failed" are in the ledger and the telemetry.
WindowResult train_window(const GbdtOptions& options, const LightGbm& library,
                          const WindowTask& task,
                          const std::function<void(const std::string&)>& say);

}  // namespace lockstep::gbdt
