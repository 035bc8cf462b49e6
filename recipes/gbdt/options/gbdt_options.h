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

  std::string symbol;                // for `train`; empty: the first symbol
  std::vector<std::string> symbols;  // for a batch; empty: all in data.path
  std::string start, end;            // days; empty: as far as the prices reach
  std::int64_t window_days = 180;
  std::int64_t stride_days = 0;  // 0: window_days
  std::int64_t horizon = 7;      // bars
  TestWindow test = TestWindow::part;
  struct {
    std::string path;  // folder of SYMBOL.csv, or one such file; empty: generated prices
    std::int64_t made_symbols = 10;
    std::int64_t made_rows = 0;  // rows of a generated table; 0: generated prices
    std::int64_t made_seed = 42;
  } data;
  std::vector<std::string> features;        // columns of the files; empty: the fifteen
  FeatureSet feature_set = FeatureSet::v2;  // of the fifteen
  std::string label_column;                 // the option label; empty: from the close
  std::string group_column;                 // the option group; of a ranking
  std::string time_column;                  // the option time; empty: found by name
  // The option symbol_column, for a file with several symbols. Empty: a file has one symbol, and is
  // refused if it seems to have several. none: it has one symbol.
  std::string symbol_column;
  DateOrder date_order = DateOrder::any;
  std::string objective = "binary";  // or an alias
  double threshold = 0.02;
  double valid_share = 0.2, test_share = 0.2;  // split.…
  bool shuffle = true;                         // split.shuffle

  std::int64_t num_leaves = 127, max_depth = 9, n_estimators = 500, min_child_samples = 20;
  double learning_rate = 0.01, subsample = 0.8, colsample_bytree = 0.8;
  std::int64_t subsample_freq = 1;
  bool is_unbalance = true;
  std::int64_t early_stopping = 50;  // iterations; 0: none
  std::int64_t seed = 42;
  std::vector<std::string> params;  // "lambda_l2=1": any other parameter of LightGBM

  struct {
    std::string library;  // empty: the one that came with Lockstep
    TrainDevice device = TrainDevice::cpu;
    std::string gpu_platform;  // part of its name; empty: NVIDIA's, else the first with a GPU
    std::int64_t device_id = -1, num_gpu = 1;
    bool double_precision = false;
    std::int64_t threads = 1;
    bool strict = true;
  } gbdt;

  bool made() const { return data.path.empty(); }
  BarColumns columns() const;  // of the files. Throws Error
  bool computes_features() const { return features.empty() && data.made_rows == 0; }
  const Objective& learns() const;  // Throws Error
  // The value in `params` of the first of these names that is set; else `otherwise`.
  std::string param(std::initializer_list<const char*> names, const std::string& otherwise) const;
  // All parameters under the names that the user typed, not resolved yet. classes: the number of
  // classes of a label with several; 0: not known yet.
  Parameters parameters(std::size_t classes = 0) const;
  SplitOptions split() const;
  // The days of `start` and `end`, if they are given. Throw Error.
  std::optional<Day> start_day() const;
  std::optional<Day> end_day() const;

  // Says which given options have no effect on rows with a time, or without one; "" if all have
  // one.
  std::string idle_note(bool timeless) const;

  void check() const override;
  void load_ahead() const override;
  bool leaves_process_clean() const override;
  DirectResult train(const DirectContext& context) const override;
  DirectBatch plan_batch() const override;
};

// Says that prices, or tables, are generated, for all who read the results.
std::string made_note(bool are_tables);

std::vector<Synonym> synonyms();  // what other programs call these options

// The names, or the lines of the one file that they name, except empty lines and those that begin
// with #. key: the option, for messages. Throws Error if the file lists nothing. Also throws if a
// name that can only mean a file does not exist, or is not the only name.
std::vector<std::string> listed_names(const char* key, const std::vector<std::string>& names);

// The functions that GbdtOptions and the recipe call: set by linking the targets gbdt-train and
// gbdt-batch, null elsewhere.
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
