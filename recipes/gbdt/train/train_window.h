// Trains one window: from prices to a tested model, with all its files.
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

// The prices of a symbol with their features. They are computed once for all windows of the symbol.
struct SymbolData {
  Bars bars;
  FeatureTable features;
  std::vector<double> returns;         // over the horizon; NaN if unknown or without prices
  std::vector<double> labels;          // values to learn, or NaN; for classes, their indexes
  std::vector<std::string> classes{};  // empty if labels are numbers
};
// How to load data on which a trained model will be used.
struct LoadHow {
  std::vector<std::string> classes{};  // the model's classes; empty: the file's
  bool label_optional = false;         // whether the column of labels may be absent or empty
  // computed features of the model; empty: all that can be computed
  std::vector<std::string> features{};
};
// Reads or generates the data of a symbol. Throws Error.
std::shared_ptr<const SymbolData> load_symbol(const GbdtOptions& options, const std::string& symbol,
                                              const LoadHow& how = {});
// Returns the symbols of a batch, each once. They are options.symbols, or the lines of the one file
// that it names. If that is empty, options.symbol is used in the same way. If both are empty, all
// symbols of data.path are used, or the generated ones. Throws Error. With generated prices, only
// generated symbols are accepted. Whether a symbol has a file is checked when it is loaded.
std::vector<std::string> batch_symbols(const GbdtOptions& options);
// Returns the symbols that the options name more than once. Throws Error.
std::vector<std::string> repeated_symbols(const GbdtOptions& options);
// Throws Error if several symbols would be read from one file that does not distinguish them.
void check_one_file(const std::set<std::string>& symbols, const std::filesystem::path& path,
                    const std::string& symbol_column);
// Returns the symbol of `lockstep train`: options.symbol, or else the first symbol of a batch.
// Throws Error.
std::string first_symbol(const GbdtOptions& options);
// Returns a note for users that the symbol is the first of several. It is empty if the symbol was
// named or generated, or is the only one.
std::string first_symbol_note(const GbdtOptions& options);

// A window of a batch, as planned before training.
struct PlannedWindow {
  std::string symbol;
  Window window;
  std::string skip;                // why it cannot be trained; empty if it can
  std::int64_t train_rows = 0;     // number of rows for training
  std::optional<Day> last_test{};  // the last day of its test, if it has a test
};
// Returns all windows of a batch, symbol by symbol. Reads the prices of each symbol. With
// test=full, windows without a full test window are left out. left_out: receives a line "SYMBOL:
// WHY" for each symbol without windows. The reason is that its file does not exist or cannot be
// read, or that its days have no room for a window. If `left_out` is null, a file that cannot be
// read is an Error. Throws Error, also if no symbol has a window.
std::vector<PlannedWindow> plan_windows(const GbdtOptions& options,
                                        std::vector<std::string>* left_out = nullptr);
// Returns the window of `lockstep train`. It begins at options.start, or else on the first day with
// enough bars before it. Without a start, windows of generated prices begin on a fixed day. The
// window ends at options.end, or else window_days later. It may extend beyond the prices, which
// split_rows reports. Throws Error if no start is given and no day has enough bars before it. Also
// throws if a start or end is given for bars without a time.
Window only_window(const GbdtOptions& options, const SymbolData& data);

struct WindowTask {
  std::string symbol;
  std::optional<Window> window;  // absent: the one of `only_window`
  // Returns the symbol's prices: from load_symbol, or those that an earlier window of the symbol
  // loaded. Its time is part of the phase "features", and its Error is this window's.
  std::function<std::shared_ptr<const SymbolData>()> load;
  double loaded_ahead_s = 0;          // time already spent on loading them for this window
  std::filesystem::path folder;       // for the files; must exist; its files are replaced
  std::filesystem::path published{};  // where the files lie after a success; empty: in `folder`
  std::string batch_id;               // empty if there is no batch
  std::string batch_options{};        // of_batch of recorded_options
  std::string run_id;                 // a plain file name; part of the telemetry's file name
  std::int64_t attempt = 1;
};

struct WindowResult {
  DirectResult::Status status = DirectResult::Status::success;
  std::string skip_reason;
  Metrics test, valid;      // test: on the days after the window, if there are any
  nlohmann::json metadata;  // as written to metadata.json
};

// Trains a window and writes these files into its folder:
//   model.txt               LightGBM's own text format
//   labels.csv.gz           timestamp,split,close,forward_return,label: a row per bar in use
//   predictions.csv         prediction_columns: a row per row of the test
//   feature_importance.csv  feature,importance,rank,gain: sorted by importance (number of splits)
//   metadata.json           what was requested and used, rows, trees, metrics, times, library, data
//   teacher_runs.json       one line of JSON: the entry of a ledger of runs
//   training_run_ID.jsonl   telemetry
// For a skipped window, only the last three files are written. If the training fails, they get the
// status "failed", and Error is thrown. say: called with each note.
WindowResult train_window(const GbdtOptions& options, const LightGbm& library,
                          const WindowTask& task,
                          const std::function<void(const std::string&)>& say);

}  // namespace lockstep::gbdt
