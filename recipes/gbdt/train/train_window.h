// One window: from prices to a model that was tested, with all files that are kept of it.
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

// The prices of a symbol with their features: computed once for all its windows.
struct SymbolData {
  Bars bars;
  FeatureTable features;
  std::vector<double> returns;  // over the horizon; NaN: unknown, as always without prices
  std::vector<double> labels;   // what is learnt; NaN: none. For classes their places in `classes`
  std::vector<std::string> classes{};  // empty: labels are numbers
};
// For the data that a trained model is used on.
struct LoadHow {
  std::vector<std::string> classes{};   // those of the model; empty: those of the file
  bool label_optional = false;          // there may be no column of labels, or no labels in it
  std::vector<std::string> features{};  // computed ones of the model; empty: all that can be
};
// Reads or makes them. Throws Error.
std::shared_ptr<const SymbolData> load_symbol(const GbdtOptions& options, const std::string& symbol,
                                              const LoadHow& how = {});
// The symbols of a batch: options.symbols (or the lines of the one file that it names), else all of
// data.path, else the made ones. Each is there once. Throws Error; with made prices, it refuses all
// symbols but their own. Whether each has a file is seen when it is loaded.
std::vector<std::string> batch_symbols(const GbdtOptions& options);
// The symbols that options.symbols, or its file, names more than once. Throws Error.
std::vector<std::string> repeated_symbols(const GbdtOptions& options);
// Throws Error if several symbols would be read from one file that does not tell them apart.
void check_one_file(const std::set<std::string>& symbols, const std::filesystem::path& path,
                    const std::string& symbol_column);
// The symbol of `lockstep train`: options.symbol, else the first of a batch. Throws Error.
std::string first_symbol(const GbdtOptions& options);
// Says that it is the first of several, for a person; "": it was named, made, or is the only one.
std::string first_symbol_note(const GbdtOptions& options);

// A window of a batch, with why it cannot be trained, as far as the prices tell.
struct PlannedWindow {
  std::string symbol;
  Window window;
  std::string skip;                // "": nothing is against it
  std::int64_t train_rows = 0;     // of one that is trained
  std::optional<Day> last_test{};  // the last day that it is tested on; nothing: it is not
};
// All windows of a batch, symbol by symbol. With test=full those without a full test window are
// left out. left_out: takes a line "SYMBOL: WHY" for each symbol whose file is not there or
// cannot be read, or whose days have room for none; null: such a file is an Error. Throws Error,
// also if no symbol is left; reads the prices of each symbol.
std::vector<PlannedWindow> plan_windows(const GbdtOptions& options,
                                        std::vector<std::string>* left_out = nullptr);
// The window of `lockstep train`: from start (or the first day that has enough bars before it) to
// end (or window_days later). Throws Error if the prices have none.
Window only_window(const GbdtOptions& options, const SymbolData& data);

struct WindowTask {
  std::string symbol;
  std::optional<Window> window;  // nothing: `only_window`
  // The symbol's prices: load_symbol, or what an earlier window of the symbol loaded. Its time
  // counts as that of the features, and its Error as this window's.
  std::function<std::shared_ptr<const SymbolData>()> load;
  double loaded_ahead_s = 0;          // that went into them before, for this window
  std::filesystem::path folder;       // is there; files in it are replaced
  std::filesystem::path published{};  // where they lie after a success; empty: there
  std::string batch_id;               // "" : none
  std::string batch_options{};        // as in recorded_options
  std::string run_id;                 // in the telemetry's name: a plain file name
  std::int64_t attempt = 1;
};

struct WindowResult {
  DirectResult::Status status = DirectResult::Status::success;
  std::string skip_reason;
  Metrics test, valid;      // test: of the following window, where there is one
  nlohmann::json metadata;  // as written to metadata.json
};

// Writes into the folder
//   model.txt               LightGBM's own text format
//   labels.csv.gz           timestamp,split,close,forward_return,label: a row per bar in use
//   predictions.csv         timestamp,symbol,window,label and what was predicted: of the test rows
//   feature_importance.csv  feature,importance,rank,gain: by splits
//   metadata.json           what was asked and used, rows, trees, metrics, times, library, data
//   teacher_runs.json       one line of JSON: the entry of a run ledger
//   training_run_ID.jsonl   telemetry
// A window that is skipped has the last three alone. Throws Error after a line with the status
// "failed" in the ledger and the telemetry.
WindowResult train_window(const GbdtOptions& options, const LightGbm& library,
                          const WindowTask& task,
                          const std::function<void(const std::string&)>& say);

}  // namespace lockstep::gbdt
