// All options of the gbdt recipe, which trains one LightGBM model per symbol and window of time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "planning/direct_recipe.h"
#include "recipes/gbdt/bars/bars.h"
#include "recipes/gbdt/features/features.h"
#include "recipes/gbdt/lightgbm/parameters.h"
#include "recipes/gbdt/objectives/objective.h"
#include "recipes/gbdt/windows/windows.h"

namespace lockstep::gbdt {

enum class TrainDevice { cpu, gpu, cuda };

struct GbdtOptions : DirectOptions {
  GbdtOptions();  // fills `table`

  std::string symbol;                // for `lockstep train`; empty: the first symbol
  std::vector<std::string> symbols;  // for `lockstep batch`; empty: all symbols of data.path
  // first day, and day after the last; empty: see only_window and plan_windows
  std::string start, end;
  std::int64_t window_days = 180;
  std::int64_t stride_days = 0;  // in days; 0: window_days
  std::int64_t horizon = 7;      // in bars
  TestWindow test = TestWindow::part;
  struct {
    std::string path;  // folder of files SYMBOL.csv, or one such file; empty: generated prices
    std::int64_t made_symbols = 10;
    std::int64_t made_rows = 0;  // rows of a generated table; 0: generated prices
    std::int64_t made_seed = 42;
  } data;
  std::vector<std::string> features;  // columns of the files; empty: the fifteen computed features
  FeatureSet feature_set = FeatureSet::v2;  // formulas of the computed features
  std::string label_column;                 // option `label`; empty: labels from the close
  std::string group_column;                 // option `group`: groups of a ranking
  std::string time_column;                  // option `time`; empty: found by name
  // Option `symbol_column`: the column of a file that names the symbol of each row. "none": all
  // rows are of one symbol. Empty: as "none", but a file of prices with several symbols is an
  // Error.
  std::string symbol_column;
  DateOrder date_order = DateOrder::any;
  std::string objective = "binary";  // name or alias
  double threshold = 0.02;
  double valid_share = 0.2, test_share = 0.2;  // split.valid_share, split.test_share
  bool shuffle = true;                         // split.shuffle

  std::int64_t num_leaves = 127, max_depth = 9, n_estimators = 500, min_child_samples = 20;
  double learning_rate = 0.01, subsample = 0.8, colsample_bytree = 0.8;
  std::int64_t subsample_freq = 1;
  bool is_unbalance = true;
  std::int64_t early_stopping = 50;  // in iterations; 0: no early stopping
  std::int64_t seed = 42;
  std::vector<std::string> params;  // "lambda_l2=1": other parameters of LightGBM

  struct {
    std::string library;  // empty: the library that came with Lockstep
    TrainDevice device = TrainDevice::cpu;
    std::string gpu_platform;  // its number, or a part of its name; empty: see choose_platform
    std::int64_t device_id = -1, num_gpu = 1;
    bool double_precision = false;
    std::int64_t threads = 1;
    bool strict = true;
  } gbdt;

  bool made() const { return data.path.empty(); }
  // columns to read from the files; throws Error as learns and listed_names do
  BarColumns columns() const;
  bool computes_features() const { return features.empty() && data.made_rows == 0; }
  const Objective& learns() const;  // throws Error if `objective` is unknown
  // Returns the value of the first entry of `params` that has one of `names`, or else `otherwise`.
  std::string param(std::initializer_list<const char*> names, const std::string& otherwise) const;
  // Returns all parameters for LightGBM. Those in `params` have the names that the user typed,
  // which may be aliases (resolve_parameters). classes: the number of classes of a multiclass
  // label; 0: not known yet.
  Parameters parameters(std::size_t classes = 0) const;
  SplitOptions split() const;
  // Both functions return the day that the option `start` or `end` names, if it is given. They
  // throw Error if the option is not a day.
  std::optional<Day> start_day() const;
  std::optional<Day> end_day() const;

  // Returns a note about options that the user gave but that have no effect. timeless: whether the
  // rows have no time. The note is empty if there are no such options.
  std::string idle_note(bool timeless) const;

  void check() const override;
  void load_ahead() const override;
  bool leaves_process_clean() const override;
  DirectResult train(const DirectContext& context) const override;
  DirectBatch plan_batch() const override;
};

// Returns a note for readers of results. It says that the prices are generated, or that the tables
// are.
std::string made_note(bool are_tables);

std::vector<Synonym> synonyms();  // other programs' names for these options

// Returns `names`. If `names` is one existing file, returns its lines instead, except empty lines
// and those that begin with #. key: the option, for messages. Throws Error if the file lists
// nothing. Also throws Error for a name that looks like a file but is not the only name, or does
// not exist as a file.
std::vector<std::string> listed_names(const char* key, const std::vector<std::string>& names);

// The functions that GbdtOptions and the recipe call. They are set in programs that link the
// targets gbdt-train and gbdt-batch; elsewhere, they are null.
struct Trainer {
  void (*load_ahead)(const GbdtOptions& options);
  DirectResult (*train)(const GbdtOptions& options, const DirectContext& context);
  DirectBatch (*plan_batch)(const GbdtOptions& options);
  std::string (*gather)(const DirectBatchEnd& end);
  std::string (*use)(const DirectUse& use);
  std::string (*caution)(const std::filesystem::path& folder);
};
extern Trainer trainer;

}  // namespace lockstep::gbdt

namespace lockstep {

template <>
struct EnumNames<gbdt::TestWindow> {
  static constexpr std::pair<gbdt::TestWindow, const char*> value[] = {
      {gbdt::TestWindow::full, "full"},
      {gbdt::TestWindow::part, "part"},
      {gbdt::TestWindow::none, "none"}};
};
template <>
struct EnumNames<gbdt::FeatureSet> {
  static constexpr std::pair<gbdt::FeatureSet, const char*> value[] = {
      {gbdt::FeatureSet::v1, "v1"}, {gbdt::FeatureSet::v2, "v2"}};
};
template <>
struct EnumNames<gbdt::DateOrder> {
  static constexpr std::pair<gbdt::DateOrder, const char*> value[] = {
      {gbdt::DateOrder::any, "any"},
      {gbdt::DateOrder::day_first, "dmy"},
      {gbdt::DateOrder::month_first, "mdy"}};
};
template <>
struct EnumNames<gbdt::TrainDevice> {
  static constexpr std::pair<gbdt::TrainDevice, const char*> value[] = {
      {gbdt::TrainDevice::cpu, "cpu"},
      {gbdt::TrainDevice::gpu, "gpu"},
      {gbdt::TrainDevice::cuda, "cuda"}};
};

}  // namespace lockstep
