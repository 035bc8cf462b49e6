// The gbdt recipe's option table and its checks.
#include "recipes/gbdt/options/gbdt_options.h"

#include <cctype>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"

namespace lockstep::gbdt {
namespace {

void add_label(OptionTable& table, GbdtOptions& o) {
  table.add("objective", o.objective,
            {.meaning = "the task to learn: binary, multiclass, regression, ranking (lambdarank), "
                        "or another objective of LightGBM, such as regression_l1, huber, quantile, "
                        "poisson"});
  table.add(
      "label", o.label_column,
      {.meaning = "column of data.path's files to learn; empty: the change of the close over the "
                  "horizon (whether it rises; whether it falls, stays or rises; its return)"});
  table.add("group", o.group_column,
            {.meaning = "for a ranking: column of data.path's files; rows with the same value are "
                        "ranked among each other"});
  table.add("time", o.time_column,
            {.meaning = "column of the time; empty: timestamp, datetime, date or time; none: rows "
                        "have no time"});
  table.add("date_order", o.date_order,
            {.meaning = "how 01/04/2021 is read: dmy, 1 April; mdy, 4 January; any, decided by a "
                        "number above 12 in the column"});
  table.add("threshold", o.threshold,
            {.meaning = "the close counts as rising (falling) if it does so by more than this "
                        "share",
             .min = -1,
             .max = 10});
}

void add_symbols(OptionTable& table, GbdtOptions& o) {
  table.add("symbol", o.symbol,
            {.meaning = "symbol whose prices to train on; empty: the first of data.path"});
  table.add("symbols", o.symbols,
            {.meaning = "for a batch: symbols, or a file with one per line; empty: all of "
                        "data.path"});
  table.add(
      "data.path", o.data.path,
      {.meaning = "folder with a file SYMBOL.csv of prices for each symbol, or one such file; "
                  "empty: prices that are made, with a planted signal",
       .is_path = true});
  table.add("symbol_column", o.symbol_column,
            {.meaning = "for one file with several symbols: column with the symbol of each row; "
                        "none: all rows are of one symbol, whatever a column such as Name holds"});
  table.add(
      "data.made_symbols", o.data.made_symbols,
      {.meaning = "number of synthetic symbols if data.path is empty", .min = 1, .max = 100'000});
  table.add("data.made_rows", o.data.made_rows,
            {.meaning = "if data.path is empty: rows of a synthetic table with 28 columns and "
                        "without a time; 0: prices",
             .min = 0,
             .max = 100'000'000});
  table.add("data.made_seed", o.data.made_seed,
            {.meaning = "if data.path is empty: seed of the synthetic prices or table, independent "
                        "of the seed of training",
             .min = 0,
             .max = 2'147'483'647});
}

void add_windows(OptionTable& table, GbdtOptions& o) {
  table.add("start", o.start,
            {.meaning = "first day, such as 2022-01-31; empty: the first day with enough bars "
                        "before it"});
  table.add("end", o.end,
            {.meaning = "day after the last day; empty: the end of one window (train), or the "
                        "latest day that leaves the bars that labels need (batch)"});
  table.add("window_days", o.window_days,
            {.meaning = "length of a window in calendar days",
             .unit = "days",
             .min = shortest_window_days,
             .max = 36'525});
  table.add("stride_days", o.stride_days,
            {.meaning = "days from the start of a window to the start of the next; 0: window_days",
             .unit = "days",
             .min = 0,
             .max = 36'525});
  table.add(
      "horizon", o.horizon,
      {.meaning = "how far ahead the label looks; as many rows (for a ranking: groups) between "
                  "training, validation and test are used in none of them",
       .unit = "bars",
       .min = 0,
       .max = 1000});
  table.add(
      "features", o.features,
      {.meaning = "columns of data.path's files to learn from, or a file with one per line; *: all "
                  "but time and label; empty: the fifteen features computed from the prices"});
  table.add("feature_set", o.feature_set,
            {.meaning = "formulas of the fifteen features: v2, each from a bar and the 60 bars "
                        "before it; v1, of earlier models, some from all bars of the file so far"});
  add_label(table, o);
  table.add(
      "split.valid_share", o.valid_share,
      {.meaning = "share of a window's rows, the last ones, to validate on", .min = 0, .max = 0.9});
  table.add("test", o.test,
            {.meaning = "days after the window to test on, as many as in the window: full, all of "
                        "them, or the window is left out; part, as many as there are; none"});
  table.add(
      "split.test_share", o.test_share,
      {.meaning = "share of the rows of a file without a time to test on", .min = 0, .max = 0.9});
  table.add("split.shuffle", o.shuffle,
            {.meaning = "rows without a time are split at random, by seed; false: in the order of "
                        "the file"});
}

void add_model(OptionTable& table, GbdtOptions& o) {
  table.add("num_leaves", o.num_leaves,
            {.meaning = "leaves of a tree at most", .min = 2, .max = 131'072});
  table.add("max_depth", o.max_depth,
            {.meaning = "depth of a tree at most; -1: any", .min = -1, .max = 10'000});
  table.add("n_estimators", o.n_estimators,
            {.meaning = "number of trees at most", .min = 1, .max = 1'000'000});
  table.add("learning_rate", o.learning_rate,
            {.meaning = "factor of each tree in the sum", .min = 1e-9, .max = 10});
  table.add("min_child_samples", o.min_child_samples,
            {.meaning = "rows of a leaf at least", .min = 0, .max = 1e9});
  table.add("subsample", o.subsample,
            {.meaning = "share of the rows that a tree sees", .min = 1e-6, .max = 1});
  table.add("subsample_freq", o.subsample_freq,
            {.meaning = "number of trees after which rows are drawn anew; 0: all rows always",
             .min = 0,
             .max = 1'000'000});
  table.add("colsample_bytree", o.colsample_bytree,
            {.meaning = "share of the features that a tree sees", .min = 1e-6, .max = 1});
  table.add(
      "is_unbalance", o.is_unbalance,
      {.meaning = "for binary and multiclassova: the rarer label counts as much as the other"});
  table.add("early_stopping", o.early_stopping,
            {.meaning = "number of trees without a better metric on the validation rows after "
                        "which training ends; 0: train all trees",
             .min = 0,
             .max = 1'000'000});
  table.add("seed", o.seed,
            {.meaning = "seed of all random draws", .min = 0, .max = 2'147'483'647});
  table.add("params", o.params,
            {.meaning = "further parameters of LightGBM, such as lambda_l2=1,max_bin=63; or one by "
                        "one, params.lambda_l2=1"});
}

void add_library(OptionTable& table, GbdtOptions& o) {
  table.add("gbdt.library", o.gbdt.library,
            {.meaning = "path of lib_lightgbm.so; empty: the library that came with Lockstep, or "
                        "for cuda the one from make lightgbm-cuda",
             .is_path = true});
  table.add(
      "gbdt.device", o.gbdt.device,
      {.meaning = "cpu; gpu: by OpenCL; cuda: with the library that make lightgbm-cuda builds"});
  table.add(
      "gbdt.gpu_platform", o.gbdt.gpu_platform,
      {.meaning = "OpenCL platform of gbdt.device=gpu: a part of its name, such as nvidia, or "
                  "its number; empty: NVIDIA's, else the first with a GPU"});
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
  table.add("gbdt.threads", o.gbdt.threads,
            {.meaning = "threads of LightGBM", .min = 1, .max = 1024});
  table.add(
      "gbdt.strict", o.gbdt.strict,
      {.meaning = "a parameter that LightGBM did not use as requested is an error, not a warning"});
}

std::optional<Day> day_of(const char* key, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto day = parse_day(text);
  if (!day) throw Error(cat(key, " must be a day such as 2022-01-31, but is ", text));
  return day;
}

LabelKind label_kind(Task task) {
  return task == Task::binary       ? LabelKind::two_classes
         : task == Task::multiclass ? LabelKind::classes
                                    : LabelKind::number;
}

// Checks the options that a ranking needs, and that no other task has group=.
void check_groups(const GbdtOptions& o, Task task) {
  if (task != Task::ranking) {
    if (!o.group_column.empty())
      throw Error(cat("group=", o.group_column, " is of a ranking, but objective=", o.objective),
                  "set objective=ranking");
    return;
  }
  if (o.made()) return;
  if (o.group_column.empty())
    throw Error("a ranking needs groups: rows that are ranked among each other",
                "give group=COLUMN, such as the query or the day");
  if (o.label_column.empty())
    throw Error("a ranking of files needs label=COLUMN: how relevant each row is, from 0");
}

void check_label(const GbdtOptions& o) {
  const Objective& objective = o.learns();
  check_groups(o, objective.task);
  const bool is_of_closes = o.label_column.empty() && o.data.made_rows == 0;
  if (is_of_closes && o.horizon == 0)
    throw Error("horizon=0: the close does not move over no bars",
                "set horizon=1, or label=COLUMN");
  if (is_of_closes && objective.task == Task::multiclass && o.threshold < 0)
    throw Error(cat("threshold=", general(o.threshold, 6),
                    " leaves no closes between those that fall and those that rise"),
                "give the share that a rise or fall has at least");
  if (o.label_column.empty() && objective.task == Task::regression && objective.least_label == 0)
    throw Error(cat("objective=", o.objective, " learns no negative numbers, such as returns"),
                "give label=COLUMN, or objective=regression");
  if (o.is_unbalance && o.table.is_given("is_unbalance") && !objective.balances)
    throw Error(cat("is_unbalance does nothing with objective=", o.objective),
                "it is of binary and multiclassova");
}

// Throws Error for options that the user gave and that would have no effect.
void check_idle(const GbdtOptions& o) {
  const auto refuse = [&](const char* key, const std::string& why, const char* hint) {
    if (o.table.is_given(key)) throw Error(cat(key, " does nothing: ", why), hint);
  };
  if (o.gbdt.device != TrainDevice::gpu)
    for (const char* key : {"gbdt.gpu_platform", "gbdt.double_precision"})
      refuse(key, cat("gbdt.device is ", o.table.get("gbdt.device")), "it is of gbdt.device=gpu");
  // Job files of earlier versions set the number to 0 for every device, or to -1 for the CPU.
  if (o.gbdt.device == TrainDevice::cpu && o.gbdt.device_id > 0)
    refuse("gbdt.device_id", "gbdt.device is cpu", "it is of gbdt.device=gpu and gbdt.device=cuda");
  if (!o.label_column.empty())
    refuse("threshold", cat("the label is the column ", o.label_column), "leave it out");
  if (!o.computes_features())
    refuse("feature_set", o.made() ? "the table has columns of its own" : "features names columns",
           "it is of the fifteen features of prices");
  if (o.made()) refuse("date_order", "the times are made", "it is of files");
  if (o.time_column == "none")
    refuse("date_order", "time=none reads no times", "leave one of them out");
  if (!o.made()) refuse("data.made_seed", "data.path names files", "it is of data that are made");
  if (o.computes_features())
    for (const char* key : {"split.test_share", "split.shuffle"})
      refuse(key, "prices have a time, and the days after a window are its test",
             "it is of tables without a time");
}

// The recipe's options must choose the device, because they are checked. LightGBM accepts any
// number.
void check_gpu_params(const GbdtOptions& o) {
  if (!o.table.is_given("params")) return;  // models of earlier versions may have such params
  for (const auto& [parameter, option] : {std::pair{"gpu_platform_id", "gbdt.gpu_platform"},
                                          std::pair{"gpu_use_dp", "gbdt.double_precision"},
                                          std::pair{"gpu_device_id", "gbdt.device_id"}}) {
    const std::string value = o.param({parameter}, "");
    if (value.empty()) continue;
    const bool is_number = std::string_view(option) == "gbdt.device_id";
    if (o.gbdt.device == TrainDevice::cpu || (o.gbdt.device == TrainDevice::cuda && !is_number))
      throw Error(
          cat("params.", parameter, " does nothing: gbdt.device is ", o.table.get("gbdt.device")),
          "leave it out");
    throw Error(
        cat("params.", parameter, " is the option ", option),
        value == "-1" ? "leave it out: -1 is the default" : cat("give ", option, "=", value));
  }
}

// Reports all that prevents training by CUDA in one error, with a corrected command.
void check_cuda(const GbdtOptions& o) {
  std::vector<std::string> wrong, words;
  if (o.gbdt.strict && o.max_depth > 0) {
    wrong.push_back(
        cat("lets trees grow deeper than max_depth=", o.max_depth, " (its issue 6969)"));
    words.emplace_back("max_depth=-1");
  }
  // Measured on an H200: with is_unbalance, AUC is 0.43 by CUDA and 0.80 on the CPU. Without it,
  // both have 0.80.
  if (o.is_unbalance && find_objective(o.objective).balances) {
    wrong.emplace_back("learns nothing of use with is_unbalance=true");
    words.emplace_back("is_unbalance=false");
  }
  if (wrong.empty()) return;
  std::string hint = cat("gbdt.device=cuda ", join(words, " "),
                         "; or train on the CPU, or by OpenCL (gbdt.device=gpu)");
  if (o.gbdt.strict && o.max_depth > 0) hint += "; gbdt.strict=false makes the depth a warning";
  try {
    find_lightgbm(o.gbdt.library, "cuda");
  } catch (const Error& error) {
    hint += cat("; besides, ", error.what(), ": ", error.hint());
  }
  throw Error(cat("by CUDA LightGBM 4.7.0 ", join(wrong, ", and ")), hint);
}

// Converts to small letters, because LightGBM ignores the case of these values.
std::string any_case(std::string value) {
  for (char& c : value) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return value;
}

const char* const yes_or_no[] = {"false", "true"};

// Whether a name looks like the path of a list. Names of symbols and columns may contain a slash
// (BTC/USD) or begin with one (/ES), but do not look like paths.
bool is_like_a_list(const std::string& name) {
  const bool is_path = (name.starts_with('/') && name.rfind('/') > 0) || name.starts_with("./") ||
                       name.starts_with("../") || name.starts_with("~/");
  return is_path || any_case(std::filesystem::path(name).extension().string()) == ".txt";
}

[[noreturn]] void refuse_list(const char* key, const std::string& name) {
  std::error_code failed;
  if (std::filesystem::is_regular_file(name, failed))
    throw Error(cat(key, " names the file ", name, " beside others"),
                cat("give ", key, "=", name, " alone, and write the others into it"));
  throw Error(cat(key, ": there is no file ", name),
              cat(key, " is a list of names, or a file with one a line; look at the path"));
}

}  // namespace

std::vector<std::string> listed_names(const char* key, const std::vector<std::string>& names) {
  std::error_code failed;
  if (names.size() != 1 || !std::filesystem::is_regular_file(names[0], failed)) {
    for (const std::string& name : names)
      if (is_like_a_list(name)) refuse_list(key, name);
    return names;
  }
  std::vector<std::string> words;
  for (const std::string& line : lines_of(read_file(names[0], list_bytes)))
    if (std::string word = trim(line); !word.empty() && word[0] != '#')
      words.push_back(std::move(word));
  if (words.empty()) throw Error(cat(names[0], " lists nothing"), "write one name a line");
  return words;
}

std::string made_note(bool are_tables) {
  return cat("the ", are_tables ? "tables" : "prices",
             " are made, with a planted signal: metrics say nothing about ",
             are_tables ? "your data" : "a market", "; data.path=DIR trains on yours");
}

GbdtOptions::GbdtOptions() {
  preset = "baseline";
  pairs = "params";
  add_common_options();
  add_symbols(table, *this);
  add_windows(table, *this);
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
  table.add_synonyms(synonyms());
}

std::optional<Day> GbdtOptions::start_day() const { return day_of("start", start); }
std::optional<Day> GbdtOptions::end_day() const { return day_of("end", end); }

SplitOptions GbdtOptions::split() const {
  return {.horizon = static_cast<std::size_t>(horizon),
          .valid_share = valid_share,
          .test = test,
          .looks_ahead = label_column.empty(),
          .test_share = test_share,
          .shuffle = shuffle,
          .seed = static_cast<std::uint64_t>(seed)};
}

const Objective& GbdtOptions::learns() const { return find_objective(objective); }

BarColumns GbdtOptions::columns() const {
  using Prices = BarColumns::Prices;
  std::vector<std::string> names = listed_names("features", features);
  return {.prices = names.empty()          ? Prices::all
                    : label_column.empty() ? Prices::close
                                           : Prices::none,
          .own = std::move(names),
          .label = label_column,
          .label_kind = label_kind(learns().task),
          .group = group_column,
          .time = time_column,
          .symbol = symbol_column,
          .date_order = date_order};
}

std::string GbdtOptions::param(std::initializer_list<const char*> names,
                               const std::string& otherwise) const {
  for (const std::string& word : params) {
    const std::size_t equals = word.find('=');
    for (const char* name : names)
      if (trim(word.substr(0, equals)) == name) return trim(word.substr(equals + 1));
  }
  return otherwise;
}

Parameters GbdtOptions::parameters(std::size_t classes) const {
  const Objective& learnt = learns();
  Parameters all = {{"objective", learnt.name},
                    {"num_leaves", cat(num_leaves)},
                    {"max_depth", cat(max_depth)},
                    {"n_estimators", cat(n_estimators)},
                    {"learning_rate", table.get("learning_rate")},
                    {"min_child_samples", cat(min_child_samples)},
                    {"subsample", table.get("subsample")},
                    {"subsample_freq", cat(subsample_freq)},
                    {"colsample_bytree", table.get("colsample_bytree")},
                    {"seed", cat(seed)},
                    {"num_threads", cat(gbdt.threads)},
                    {"device_type", table.get("gbdt.device")}};
  if (learnt.balances) all.emplace_back("is_unbalance", yes_or_no[is_unbalance ? 1 : 0]);
  if (learnt.task == Task::multiclass && classes > 0) all.emplace_back("num_class", cat(classes));
  if (learnt.task == Task::ranking &&
      param({"eval_at", "ndcg_eval_at", "ndcg_at", "map_eval_at", "map_at"}, "").empty())
    all.emplace_back("eval_at", "10");
  if (early_stopping > 0) all.emplace_back("early_stopping_round", cat(early_stopping));
  if (gbdt.device != TrainDevice::cpu) all.emplace_back("gpu_device_id", cat(gbdt.device_id));
  if (gbdt.device == TrainDevice::gpu)
    all.emplace_back("gpu_use_dp", yes_or_no[gbdt.double_precision ? 1 : 0]);
  if (gbdt.num_gpu > 1) all.emplace_back("num_gpu", cat(gbdt.num_gpu));
  bool metric = false;
  for (const std::string& word : params) {
    const std::size_t equals = word.find('=');
    all.emplace_back(trim(word.substr(0, equals)), trim(word.substr(equals + 1)));
    metric = metric || all.back().first.starts_with("metric");
  }
  if (!metric) all.emplace_back("metric", learnt.metric);
  return all;
}

void GbdtOptions::check() const {
  for (const std::string& word : params)
    if (const std::size_t equals = word.find('='); equals == std::string::npos || equals == 0)
      throw Error(cat("params holds '", word, "', which is not of the form name=value"),
                  "for example params=lambda_l2=1,max_bin=63");
  check_label(*this);
  check_idle(*this);
  check_gpu_params(*this);
  if (!made() && data.made_rows > 0)
    throw Error("data.made_rows makes a table, but data.path names files");
  const auto first = start_day(), last = end_day();
  if (first && last && *last - *first < shortest_window_days)
    throw Error(cat("start=", start, " and end=", end, " leave no room for a window"),
                cat("a window has at least ", shortest_window_days, " days"));
  if (made())
    for (const auto& [key, is_given] :
         {std::pair{"features", !features.empty()}, std::pair{"label", !label_column.empty()},
          std::pair{"group", !group_column.empty()}, std::pair{"time", !time_column.empty()},
          std::pair{"symbol_column", !symbol_column.empty()}})
      if (is_given) throw Error(cat(key, " names columns of files, but data.path is not given"));
  if (early_stopping > 0 && valid_share == 0)
    throw Error("early_stopping needs rows to validate on, but split.valid_share is 0",
                "set early_stopping=0 too");
  const std::string boosting = any_case(param({"boosting", "boosting_type", "boost"}, ""));
  if (early_stopping > 0 && boosting == "dart")
    throw Error(
        "early_stopping cannot go back to the best trees of boosting=dart: later ones changed them",
        "set early_stopping=0");
  const bool goss = boosting == "goss" || any_case(param({"data_sample_strategy"}, "")) == "goss";
  if (goss && subsample < 1 && subsample_freq > 0)
    throw Error(cat("GOSS draws rows by their gradients, which LightGBM does not do together with "
                    "subsample=",
                    table.get("subsample")),
                "set subsample=1 subsample_freq=0");
  if (subsample < 1 && subsample_freq == 0)
    throw Error(cat("subsample=", table.get("subsample"), " does nothing with subsample_freq=0"),
                "set subsample=1, or subsample_freq=1");
  if (gbdt.num_gpu > 1)
    throw Error(cat("gbdt.num_gpu=", gbdt.num_gpu,
                    ": training one model on several GPUs crashes in LightGBM 4.7.0 (an illegal "
                    "memory access)"),
                "train one window on each GPU instead: lockstep batch gbdt");
  if (gbdt.device == TrainDevice::cuda) check_cuda(*this);
}

std::string GbdtOptions::idle_note(bool timeless) const {
  std::vector<std::string> idle;
  const auto add = [&](const char* key) {
    if (table.is_given(key)) idle.emplace_back(key);
  };
  if (timeless) {
    for (const char* key : {"horizon", "window_days", "stride_days", "date_order"}) add(key);
    if (test == TestWindow::full) add("test");
    if (made()) add("threshold");
  } else {
    for (const char* key : {"split.test_share", "split.shuffle"}) add(key);
  }
  if (idle.empty()) return "";
  return cat(join(idle, ", "), idle.size() == 1 ? " does" : " do", " nothing: the rows have ",
             timeless ? "no" : "a", " time");
}

void GbdtOptions::load_ahead() const {
  if (trainer.load_ahead != nullptr) trainer.load_ahead(*this);
}

// A used GPU and the threads of OpenMP would stay in the process.
bool GbdtOptions::leaves_process_clean() const {
  return gbdt.device == TrainDevice::cpu && gbdt.threads == 1;
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
