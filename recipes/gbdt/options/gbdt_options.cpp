// The gbdt recipe's option table and its checks.
#include "recipes/gbdt/options/gbdt_options.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace lockstep::gbdt {
namespace {

void add_data(OptionTable& table, GbdtOptions& o) {
  table.add("symbol", o.symbol,
            {.meaning = "whose prices to train on; empty: the first of data.path"});
  table.add("symbols", o.symbols,
            {.meaning = "of a batch: symbols, or a file with one a line; empty: all of data.path"});
  table.add(
      "data.path", o.data.path,
      {.meaning = "folder with a file SYMBOL.csv of prices for each symbol, or one such file; "
                  "empty: prices that are made, with a planted signal",
       .is_path = true});
  table.add(
      "data.made_symbols", o.data.made_symbols,
      {.meaning = "how many symbols are made where data.path is empty", .min = 1, .max = 100'000});
  table.add("start", o.start,
            {.meaning = "first day, as 2022-01-31; empty: the first with enough bars before it"});
  table.add("end", o.end,
            {.meaning = "day after the last; empty: after one window (train), or after the last "
                        "bar (batch)"});
  table.add("window_days", o.window_days,
            {.meaning = "length of a window, in days of the calendar",
             .unit = "days",
             .min = shortest_window_days,
             .max = 36'525});
  table.add("stride_days", o.stride_days,
            {.meaning = "from the start of a window to that of the next; 0: window_days",
             .unit = "days",
             .min = 0,
             .max = 36'525});
  table.add("horizon", o.horizon,
            {.meaning = "how far ahead the label looks; as many rows between training, validation "
                        "and test serve for none of them",
             .unit = "bars",
             .min = 1,
             .max = 1000});
  table.add(
      "features", o.features,
      {.meaning = "columns of data.path's files to learn from, or a file with one a line; *: all "
                  "but time and label; empty: the fifteen that are made of the prices"});
  table.add("label", o.label_column,
            {.meaning = "column of data.path's files to learn; empty: whether the close rises"});
  table.add("threshold", o.threshold,
            {.meaning = "the label is 1 where the close rises by more than this share",
             .min = -1,
             .max = 10});
  table.add("split.valid_share", o.valid_share,
            {.meaning = "of a window's rows, the last ones, to validate on", .min = 0, .max = 0.9});
  table.add("test", o.test,
            {.meaning = "days after the window, as many as in it, to test on: full, or the window "
                        "is left out; part, as many as there are; none"});
}

void add_model(OptionTable& table, GbdtOptions& o) {
  table.add("num_leaves", o.num_leaves,
            {.meaning = "of a tree, at most", .min = 2, .max = 131'072});
  table.add("max_depth", o.max_depth,
            {.meaning = "of a tree, at most; -1: any", .min = -1, .max = 10'000});
  table.add("n_estimators", o.n_estimators,
            {.meaning = "trees, at most", .min = 1, .max = 1'000'000});
  table.add("learning_rate", o.learning_rate,
            {.meaning = "what each tree counts", .min = 1e-9, .max = 10});
  table.add("min_child_samples", o.min_child_samples,
            {.meaning = "rows of a leaf, at least", .min = 0, .max = 1e9});
  table.add("subsample", o.subsample,
            {.meaning = "share of the rows that a tree sees", .min = 1e-6, .max = 1});
  table.add("subsample_freq", o.subsample_freq,
            {.meaning = "trees after which rows are drawn anew; 0: all rows always",
             .min = 0,
             .max = 1'000'000});
  table.add("colsample_bytree", o.colsample_bytree,
            {.meaning = "share of the features that a tree sees", .min = 1e-6, .max = 1});
  table.add("is_unbalance", o.is_unbalance,
            {.meaning = "the rarer label counts as much as the other"});
  table.add("early_stopping", o.early_stopping,
            {.meaning = "trees without a better metric on the validation rows, after which "
                        "training ends; 0: all trees",
             .min = 0,
             .max = 1'000'000});
  table.add("seed", o.seed, {.meaning = "of all that is drawn", .min = 0, .max = 2'147'483'647});
  table.add("params", o.params,
            {.meaning = "further parameters of LightGBM, such as lambda_l2=1,max_bin=63"});
}

void add_library(OptionTable& table, GbdtOptions& o) {
  table.add("gbdt.library", o.gbdt.library,
            {.meaning = "path of lib_lightgbm.so; empty: the one that came with Lockstep",
             .is_path = true});
  table.add("gbdt.device", o.gbdt.device,
            {.meaning = "cpu; gpu: by OpenCL; cuda: with a library that was built for it"});
  table.add("gbdt.platform", o.gbdt.platform,
            {.meaning = "OpenCL platform (gpu_platform_id); -1: LightGBM's choice",
             .min = -1,
             .max = 1000});
  table.add("gbdt.device_id", o.gbdt.device_id,
            {.meaning = "gpu_device_id, among the GPUs that the process sees; -1: the first",
             .min = -1,
             .max = 1000});
  table.add("gbdt.num_gpu", o.gbdt.num_gpu,
            {.meaning = "GPUs for one model; LightGBM 4.7.0 crashes with more than one",
             .min = 1,
             .max = 1000});
  table.add("gbdt.double_precision", o.gbdt.double_precision,
            {.meaning = "gpu_use_dp: sums in double precision on an OpenCL device"});
  table.add("gbdt.threads", o.gbdt.threads, {.meaning = "of LightGBM", .min = 1, .max = 1024});
  table.add(
      "gbdt.strict", o.gbdt.strict,
      {.meaning = "a parameter that LightGBM did not use as asked is an error, not a warning"});
}

std::optional<Day> day_of(const char* key, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto day = parse_day(text);
  if (!day) throw Error(cat(key, " must be a day such as 2022-01-31, but is ", text));
  return day;
}

std::vector<std::string> lines_of_list(const std::filesystem::path& file) {
  std::vector<std::string> words;
  for (const std::string& line : split(read_file(file), '\n'))
    if (std::string word = trim(line); !word.empty() && word[0] != '#')
      words.push_back(std::move(word));
  if (words.empty()) throw Error(cat(file.string(), " lists nothing"), "write one name a line");
  return words;
}

const char* const yes_or_no[] = {"false", "true"};

}  // namespace

GbdtOptions::GbdtOptions() {
  preset = "baseline";
  add_common_options();
  add_data(table, *this);
  add_model(table, *this);
  add_library(table, *this);
  table.add_preset(
      {.name = "baseline",
       .meaning = "127 leaves, depth 9, 500 trees",
       .values = {{"num_leaves", "127"}, {"max_depth", "9"}, {"n_estimators", "500"}}});
  table.add_preset(
      {.name = "experiment",
       .meaning = "255 leaves, depth 15, 1,000 trees",
       .values = {{"num_leaves", "255"}, {"max_depth", "15"}, {"n_estimators", "1000"}}});
}

std::optional<Day> GbdtOptions::start_day() const { return day_of("start", start); }
std::optional<Day> GbdtOptions::end_day() const { return day_of("end", end); }

SplitOptions GbdtOptions::split() const {
  return {.horizon = static_cast<std::size_t>(horizon),
          .valid_share = valid_share,
          .test = test,
          .looks_ahead = label_column.empty()};
}

BarColumns GbdtOptions::columns() const {
  using Prices = BarColumns::Prices;
  std::vector<std::string> names = features;
  if (names.size() == 1 && names[0] != "*" && std::filesystem::is_regular_file(names[0]))
    names = lines_of_list(names[0]);
  return {.prices = names.empty()          ? Prices::all
                    : label_column.empty() ? Prices::close
                                           : Prices::none,
          .own = std::move(names),
          .label = label_column};
}

Parameters GbdtOptions::parameters() const {
  Parameters all = {{"objective", "binary"},
                    {"num_leaves", cat(num_leaves)},
                    {"max_depth", cat(max_depth)},
                    {"n_estimators", cat(n_estimators)},
                    {"learning_rate", table.get("learning_rate")},
                    {"min_child_samples", cat(min_child_samples)},
                    {"subsample", table.get("subsample")},
                    {"subsample_freq", cat(subsample_freq)},
                    {"colsample_bytree", table.get("colsample_bytree")},
                    {"is_unbalance", yes_or_no[is_unbalance ? 1 : 0]},
                    {"seed", cat(seed)},
                    {"num_threads", cat(gbdt.threads)},
                    {"device_type", table.get("gbdt.device")}};
  if (early_stopping > 0) all.emplace_back("early_stopping_round", cat(early_stopping));
  if (gbdt.device != TrainDevice::cpu) all.emplace_back("gpu_device_id", cat(gbdt.device_id));
  if (gbdt.device == TrainDevice::gpu) {
    all.emplace_back("gpu_platform_id", cat(gbdt.platform));
    all.emplace_back("gpu_use_dp", yes_or_no[gbdt.double_precision ? 1 : 0]);
  }
  if (gbdt.num_gpu > 1) all.emplace_back("num_gpu", cat(gbdt.num_gpu));
  bool metric = false;
  for (const std::string& word : params) {
    const std::size_t equals = word.find('=');
    all.emplace_back(trim(word.substr(0, equals)), trim(word.substr(equals + 1)));
    metric = metric || all.back().first.starts_with("metric");
  }
  if (!metric) all.emplace_back("metric", "binary_logloss");
  return all;
}

void GbdtOptions::check() const {
  for (const std::string& word : params)
    if (const std::size_t equals = word.find('='); equals == std::string::npos || equals == 0)
      throw Error(cat("params holds '", word, "', which is not of the form name=value"),
                  "for example params=lambda_l2=1,max_bin=63");
  const auto first = start_day(), last = end_day();
  if (first && last && *last - *first < shortest_window_days)
    throw Error(cat("start=", start, " and end=", end, " leave no room for a window"),
                cat("a window has at least ", shortest_window_days, " days"));
  if (made() && (!features.empty() || !label_column.empty()))
    throw Error(cat(features.empty() ? "label" : "features",
                    " names columns of files, but data.path is not given"));
  if (early_stopping > 0 && valid_share == 0)
    throw Error("early_stopping needs rows to validate on, but split.valid_share is 0",
                "set early_stopping=0 too");
  if (subsample < 1 && subsample_freq == 0)
    throw Error(cat("subsample=", table.get("subsample"), " does nothing with subsample_freq=0"),
                "set subsample=1, or subsample_freq=1");
  if (gbdt.num_gpu > 1)
    throw Error(cat("gbdt.num_gpu=", gbdt.num_gpu,
                    ": training one model on several GPUs crashes in LightGBM 4.7.0 (an illegal "
                    "memory access)"),
                "train one window on each GPU instead: lockstep batch gbdt");
}

DirectResult GbdtOptions::train(const DirectContext& context) const {
  if (trainer.train == nullptr) throw Error("this program cannot train gbdt");
  return trainer.train(*this, context);
}

DirectBatch GbdtOptions::plan_batch() const {
  if (trainer.plan_batch == nullptr) throw Error("this program cannot plan batches of gbdt");
  return trainer.plan_batch(*this);
}

}  // namespace lockstep::gbdt
