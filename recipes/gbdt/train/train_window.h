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

// The prices of a symbol with their features and labels. They are computed once for all windows of
// the symbol.
struct SymbolData {
  Bars bars;
  FeatureTable features;
  std::vector<double> returns;         // forward_returns over the horizon; NaN without prices
  std::vector<double> labels;          // values to learn, or indexes of classes; NaN: missing
  std::vector<std::string> classes{};  // empty if labels are numbers
};
// How to load the data to which a trained model is applied. The defaults are for training.
struct LoadHow {
  std::vector<std::string> classes{};  // classes of the model; empty: classes in the file
  bool label_optional = false;         // whether the column of labels may be absent or empty
  // the model's computed features; empty: all that can be computed from the prices
  std::vector<std::string> features{};
};
// Reads or generates the data of a symbol. Throws Error if its file cannot be found or read, and as
// make_labels does.
std::shared_ptr<const SymbolData> load_symbol(const GbdtOptions& options, const std::string& symbol,
                                              const LoadHow& how = {});
// Returns the symbols of a batch, each once. They are options.symbols, or the lines of the file
// that it names (listed_names). If options.symbols is empty, options.symbol is used in the same
// way. If both are empty, all symbols of data.path are used, or the generated symbols. With
// generated prices, other symbols than the generated ones are an Error. Also throws Error as
// listed_names, list_symbols and check_one_file do. Whether a symbol has a file is checked only
// when the symbol is loaded.
std::vector<std::string> batch_symbols(const GbdtOptions& options);
// Returns the symbols that options.symbols, or else options.symbol, names more than once. Throws
// Error as listed_names does.
std::vector<std::string> repeated_symbols(const GbdtOptions& options);
// Throws Error if there are several symbols and `path` is one file that does not have all of them.
void check_one_file(const std::set<std::string>& symbols, const std::filesystem::path& path,
                    const std::string& symbol_column);
// Returns the symbol of `lockstep train`: options.symbol, or else the first symbol of
// batch_symbols. Throws Error as batch_symbols does.
std::string first_symbol(const GbdtOptions& options);
// Returns a note for users that first_symbol is the first of several symbols. The note is empty if
// options.symbol names the symbol, if prices are generated, or if there is only one symbol.
std::string first_symbol_note(const GbdtOptions& options);

// A window of a batch, as planned before training.
struct PlannedWindow {
  std::string symbol;
  Window window;
  std::string skip;                // why it cannot be trained; empty if it can be
  std::int64_t train_rows = 0;     // number of rows for training
  std::optional<Day> last_test{};  // last day of its test rows, if there are any
};
// Returns all windows of a batch, symbol by symbol. Reads the prices of each symbol. With
// TestWindow::full, windows whose test days are not all covered by prices are left out. left_out:
// receives a line "SYMBOL: WHY" for each symbol that has no windows. WHY is that its file cannot be
// read, or that its days have no room for a window. If `left_out` is null, a file that cannot be
// read is an Error. Throws Error as batch_symbols does. If no window remains, throws the Error of
// the first symbol that was left out, if there is one.
std::vector<PlannedWindow> plan_windows(const GbdtOptions& options,
                                        std::vector<std::string>* left_out = nullptr);
// Returns the window of `lockstep train`. It begins at options.start, or else on the first day with
// enough bars before it. Without options.start, windows of generated prices begin on a fixed day.
// The window ends at options.end, or else window_days after its start. It may extend beyond the
// prices; split_rows then gives the reason to skip it. Throws Error if there is no options.start
// and no day has enough bars before it. Also throws Error if start or end is given, but bars have
// no time.
Window only_window(const GbdtOptions& options, const SymbolData& data);

struct WindowTask {
  std::string symbol;
  std::optional<Window> window;  // absent: the result of only_window
  // Returns the symbol's data: from load_symbol, or those that an earlier window of the symbol
  // loaded. The time of the call counts to the phase "features". If the call throws Error, this
  // window fails.
  std::function<std::shared_ptr<const SymbolData>()> load;
  double loaded_ahead_s = 0;     // seconds spent before on loading the data for this window
  std::filesystem::path folder;  // existing folder for the written files, which replace old ones
  // where the files lie after a success; empty: they stay in `folder`
  std::filesystem::path published{};
  std::string batch_id;         // empty if the window is not part of a batch
  std::string batch_options{};  // integer options of the batch; see recorded_options
  std::string run_id;           // a plain name, which is part of the telemetry's file name
  std::int64_t attempt = 1;
};

struct WindowResult {
  DirectResult::Status status = DirectResult::Status::success;
  std::string skip_reason;
  Metrics test, valid;      // test: on rows after the window, if there are any
  nlohmann::json metadata;  // the contents of metadata.json
};

// Trains a window and writes these files into its folder:
//   model.txt               LightGBM's own text format
//   labels.csv.gz           timestamp,split,close,forward_return,label: a row per used bar
//   predictions.csv         columns of prediction_columns: a row per test row
//   feature_importance.csv  feature,importance,rank,gain: sorted by importance (number of splits)
//   metadata.json           what was requested and used, rows, trees, metrics, times, library, data
//   teacher_runs.json       one line of JSON: an entry for the batch's list of trainings
//   training_run_ID.jsonl   the lines of Telemetry
// For a skipped window, only the last three files are written. If the training fails, these three
// files get the status "failed", and Error is thrown. say: called with each note for users.
WindowResult train_window(const GbdtOptions& options, const LightGbm& library,
                          const WindowTask& task,
                          const std::function<void(const std::string&)>& say);

}  // namespace lockstep::gbdt
