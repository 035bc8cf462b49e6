#include "recipes/gbdt/lightgbm/parameters.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string_view>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"

namespace lockstep::gbdt {
namespace {

std::vector<std::string> all_names(const LightGbm& library) {
  std::vector<std::string> names;
  for (const auto& [name, canonical] : library.aliases()) names.push_back(name);
  return names;
}

// Parameters that only LightGBM's own program uses. The library accepts them without a warning even
// if it gets rows in memory.
struct Unused {
  const char* why;
  std::vector<std::string_view> names;
};

const std::vector<Unused>& unused() {
  static const std::vector<Unused> all = {
      {"says which columns of a file LightGBM reads, but rows are handed to it; features=, label= "
       "and group= choose columns",
       {"ignore_column", "label_column", "group_column", "weight_column", "header", "two_round",
        "pre_partition", "precise_float_parser", "parser_config_file"}},
      {"is a file of LightGBM's own program",
       {"data", "valid", "config", "input_model", "output_model", "output_result", "convert_model",
        "convert_model_language", "save_binary", "snapshot_freq"}},
      {"belongs to LightGBM's own loop; here early_stopping=TREES ends training",
       {"early_stopping_min_delta", "is_provide_training_metric", "metric_freq", "task"}},
      {"is of prediction, not of training",
       {"start_iteration_predict", "num_iteration_predict", "predict_raw_score",
        "predict_leaf_index", "predict_contrib", "predict_disable_shape_check", "pred_early_stop",
        "pred_early_stop_freq", "pred_early_stop_margin"}},
      {"trains over several machines, which nothing starts here",
       {"num_machines", "machines", "machine_list_filename", "local_listen_port"}}};
  return all;
}

// Returns the recipe's option that always sets a LightGBM parameter. name: the parameter.
std::string option_for(const std::string& name) {
  static const std::map<std::string, std::string> all = {
      {"device_type", "gbdt.device"},      {"early_stopping_round", "early_stopping"},
      {"gpu_device_id", "gbdt.device_id"}, {"gpu_use_dp", "gbdt.double_precision"},
      {"num_gpu", "gbdt.num_gpu"},         {"num_threads", "gbdt.threads"}};
  constexpr std::array alike{"objective",    "num_leaves",     "max_depth",
                             "n_estimators", "learning_rate",  "min_child_samples",
                             "subsample",    "subsample_freq", "colsample_bytree",
                             "seed",         "is_unbalance"};
  if (const auto found = all.find(name); found != all.end()) return found->second;
  return std::find(alike.begin(), alike.end(), name) == alike.end() ? "" : name;
}

void check_effect(const std::string& name, const std::string& value) {
  for (const Unused& one : unused())
    if (std::find(one.names.begin(), one.names.end(), name) != one.names.end())
      throw Error(cat("LightGBM's parameter ", name, " would do nothing"), cat("it ", one.why));
  if (name != "forcedsplits_filename" && name != "forcedbins_filename") return;
  std::error_code failed;
  if (!std::filesystem::is_regular_file(value, failed))
    throw Error(cat(name, ": there is no file ", printable(value)));
}

void check_value(const std::string& name, const std::string& value) {
  if (value.find_first_of(" \t\r\n=") != std::string::npos)
    throw Error(cat("LightGBM's parameter ", name, " cannot be '", printable(value), "'"),
                "values hold neither spaces nor =");
  if (name == "num_gpu" && to_number(value).value_or(1) > 1)
    throw Error(cat("num_gpu=", value,
                    ": training one model on several GPUs crashes in LightGBM "
                    "4.7.0 (an illegal memory access)"),
                "train one window on each GPU instead: lockstep batch gbdt");
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Aliases of values. LightGBM ignores the case of values, and a model file contains its own names
// for them.
struct ValueAliases {
  std::string_view parameter;
  std::map<std::string, std::string, std::less<>> names;
};

const std::vector<ValueAliases>& value_aliases() {
  static const std::vector<ValueAliases> all = {
      // goss means gbdt with data_sample_strategy=goss, which `differences` checks.
      {"boosting", {{"gbrt", "gbdt"}, {"goss", "gbdt"}, {"random_forest", "rf"}}},
      {"data_sample_strategy", {}},
      {"device_type", {}},
      {"objective", {}},
      {"tree_learner",
       {{"feature_parallel", "feature"}, {"data_parallel", "data"}, {"voting_parallel", "voting"}}},
      {"metric",
       {{"none", "custom"},
        {"na", "custom"},
        {"null", "custom"},
        {"binary", "binary_logloss"},
        {"regression", "l2"},
        {"regression_l2", "l2"},
        {"mean_squared_error", "l2"},
        {"mse", "l2"},
        {"l2_root", "rmse"},
        {"root_mean_squared_error", "rmse"},
        {"regression_l1", "l1"},
        {"mean_absolute_error", "l1"},
        {"mae", "l1"},
        {"mean_absolute_percentage_error", "mape"},
        {"multiclass", "multi_logloss"},
        {"softmax", "multi_logloss"},
        {"multiclassova", "multi_logloss"},
        {"multiclass_ova", "multi_logloss"},
        {"ova", "multi_logloss"},
        {"ovr", "multi_logloss"},
        {"xentropy", "cross_entropy"},
        {"xentlambda", "cross_entropy_lambda"},
        {"kldiv", "kullback_leibler"},
        {"mean_average_precision", "map"},
        {"lambdarank", "ndcg"},
        {"rank_xendcg", "ndcg"},
        {"xendcg", "ndcg"},
        {"xe_ndcg", "ndcg"},
        {"xe_ndcg_mart", "ndcg"},
        {"xendcg_mart", "ndcg"}}}};
  return all;
}

// The value's name in model files. Returns `value` unchanged if the parameter has no aliases.
std::string own_value(const std::string& parameter, const std::string& value) {
  for (const ValueAliases& one : value_aliases()) {
    if (one.parameter != parameter) continue;
    const std::string lower = lower_case(value);
    const auto found = one.names.find(lower);
    return found == one.names.end() ? lower : found->second;
  }
  return value;
}

std::optional<double> as_number(const std::string& value) {
  const std::string lower = lower_case(value);
  if (lower == "true" || lower == "+") return 1;
  if (lower == "false" || lower == "-") return 0;
  return to_number(value);
}

bool same_value(const std::string& parameter, const std::string& asked, const std::string& used) {
  if (asked == used || own_value(parameter, asked) == used) return true;
  const auto a = as_number(asked), b = as_number(used);
  return a && b && std::abs(*a - *b) <= 1e-12 * std::max(std::abs(*a), std::abs(*b));
}

// Sorts the ranks of eval_at as LightGBM does.
std::vector<std::string> sorted_numbers(std::vector<std::string> words) {
  std::stable_sort(words.begin(), words.end(), [](const std::string& a, const std::string& b) {
    return to_number(a).value_or(0) < to_number(b).value_or(0);
  });
  return words;
}

bool same(const std::string& parameter, const std::string& asked, const std::string& used) {
  if (asked == used) return true;
  if (parameter == "metric")  // if none is given, LightGBM uses the objective's metric
    return asked.empty() || metric_names(asked) == split(used, ',');
  std::vector<std::string> a = split(asked, ','), b = split(used, ',');
  if (parameter == "eval_at") a = sorted_numbers(std::move(a));
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [&](const auto& one, const auto& other) { return same_value(parameter, one, other); });
}

template <class Visit>
void each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<int> numbers(std::string_view list) {
  std::vector<int> values;
  const char* const end = list.data() + list.size();
  for (const char* at = list.data(); at < end;) {
    int value = 0;
    const auto [next, failed] = std::from_chars(at, end, value);
    if (failed == std::errc{}) values.push_back(value);
    at = next == at ? at + 1 : next;
  }
  return values;
}

// The depth of a tree. Inner nodes are numbered from 0, leaves from -1 downwards. Parents come
// before their children.
std::int64_t depth(const std::vector<int>& left, const std::vector<int>& right) {
  std::vector<std::int64_t> depths(left.size(), 1);
  std::int64_t deepest = 0;
  for (std::size_t node = 0; node < std::min(left.size(), right.size()); ++node) {
    deepest = std::max(deepest, depths[node]);
    for (const int child : {left[node], right[node]})
      if (child > static_cast<int>(node) && child < static_cast<int>(left.size()))
        depths[static_cast<std::size_t>(child)] = depths[node] + 1;
  }
  return deepest;
}

std::optional<std::int64_t> whole(const Parameters& parameters, const char* name) {
  const auto number = to_number(value_of(parameters, name, ""));
  if (!number) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

}  // namespace

std::vector<std::string> metric_names(const std::string& value) {
  std::vector<std::string> names;
  for (const std::string& word : split(value, ','))
    if (std::string name = own_value("metric", word);
        !name.empty() && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  return names;
}

bool is_goss(const Parameters& asked) {
  return lower_case(value_of(asked, "boosting", "")) == "goss" ||
         lower_case(value_of(asked, "data_sample_strategy", "")) == "goss";
}

std::string value_of(const Parameters& parameters, const std::string& name,
                     const std::string& otherwise) {
  for (const auto& [key, value] : parameters)
    if (key == name) return value;
  return otherwise;
}

Parameters resolve_parameters(const LightGbm& library, const Parameters& asked) {
  Parameters resolved;
  std::map<std::string, std::string> given;  // maps a canonical name to the name that the user gave
  for (const auto& [name, value] : asked) {
    const auto found = library.aliases().find(name);
    if (found == library.aliases().end()) {
      const std::string near =  // scikit-learn and XGBoost name the metric eval_metric
          name == "eval_metric" ? "metric" : nearest(name, all_names(library));
      throw Error(cat("LightGBM has no parameter ", name),
                  near.empty() ? "its parameters: https://lightgbm.readthedocs.io"
                               : cat("is it ", near, "?"));
    }
    const std::string& canonical = found->second;
    check_value(canonical, value);
    check_effect(canonical, value);
    const auto [before, fresh] = given.emplace(canonical, name);
    if (!fresh) {
      if (const std::string option = option_for(before->second); !option.empty())
        throw Error(cat("params.", name, " is an option of its own, ", option),
                    cat("write ", option, "=", value));
      throw Error(before->second == name
                      ? cat(name, " is given twice")
                      : cat(before->second, " and ", name, " are one parameter of LightGBM, ",
                            canonical, ", but both are given"),
                  cat("give ", canonical, " alone"));
    }
    resolved.emplace_back(canonical, value);
  }
  return resolved;
}

std::string parameter_text(const Parameters& parameters) {
  std::vector<std::string> words;
  for (const auto& [name, value] : parameters) words.push_back(cat(name, "=", value));
  return join(words, " ");
}

std::map<std::string, std::string> parameters_of_model(const std::string& model) {
  std::map<std::string, std::string> parameters;
  const std::size_t begin = model.find("\nparameters:"), end = model.find("\nend of parameters");
  if (begin == std::string::npos || end == std::string::npos) return parameters;
  each_line(std::string_view(model).substr(begin, end - begin), [&](std::string_view line) {
    const std::size_t colon = line.find(": ");
    if (line.size() < 4 || line.front() != '[' || colon == std::string_view::npos) return;
    parameters[std::string(line.substr(1, colon - 1))] =
        std::string(line.substr(colon + 2, line.size() - colon - 3));
  });
  return parameters;
}

int outputs_of_model(const std::string& model) {
  constexpr std::string_view key = "\nnum_class=";
  const std::size_t found = model.find(key);
  if (found == std::string::npos) return 1;
  const std::size_t begin = found + key.size();
  const auto count = to_number(model.substr(begin, model.find('\n', begin) - begin));
  return std::max(1, static_cast<int>(count.value_or(1)));
}

TreeSizes tree_sizes(const std::string& model) {
  TreeSizes sizes;
  std::vector<int> left;
  double leaves = 0;
  each_line(model, [&](std::string_view line) {
    if (line.starts_with("num_leaves=")) {
      const auto count = static_cast<std::int64_t>(to_number(line.substr(11)).value_or(0));
      ++sizes.trees;
      leaves += static_cast<double>(count);
      sizes.most_leaves = std::max(sizes.most_leaves, count);
    } else if (line.starts_with("left_child=")) {
      left = numbers(line.substr(11));
    } else if (line.starts_with("right_child=")) {
      sizes.deepest = std::max(sizes.deepest, depth(left, numbers(line.substr(12))));
    }
  });
  if (sizes.trees > 0) sizes.mean_leaves = leaves / static_cast<double>(sizes.trees);
  return sizes;
}

namespace {

// Hashes only the trees. The text before and after them contains parameters and byte counts.
std::string hash_of_trees(std::string_view model) {
  const std::size_t begin = std::min(model.find("\nTree=0\n"), model.size()),
                    end = std::min(model.find("\nend of trees", begin), model.size());
  return hash128_hex(model.substr(begin, end - begin));
}

}  // namespace

ModelFacts read_facts(const std::string& model) {
  return {.parameters = parameters_of_model(model),
          .trees = tree_sizes(model),
          .outputs = outputs_of_model(model),
          .trees_hash = hash_of_trees(model)};
}

std::vector<std::string> differences(const Parameters& asked, const ModelFacts& model) {
  std::vector<std::string> found;
  const auto& used = model.parameters;
  for (const auto& [name, value] : asked) {
    const auto entry = used.find(name);
    if (entry != used.end() && !same(name, value, entry->second))
      found.push_back(cat(name, " was to be ", value, ", but is ", entry->second));
  }
  const auto strategy = used.find("data_sample_strategy");
  if (is_goss(asked) && strategy != used.end() && strategy->second != "goss")
    found.push_back(cat("boosting was to be goss, but data_sample_strategy is ", strategy->second));
  if (used.empty()) found.emplace_back("the model does not say what it was trained with");
  const TreeSizes& sizes = model.trees;
  const auto beyond = [&](const char* name, const char* what, std::int64_t is) {
    const auto limit = whole(asked, name);
    if (limit && *limit > 0 && is > *limit)
      found.push_back(cat(what, " ", is, ", but ", name, " is ", *limit));
  };
  beyond("num_leaves", "a tree has leaves:", sizes.most_leaves);
  beyond("max_depth", "a tree has a depth of", sizes.deepest);
  beyond("num_iterations", "iterations:", sizes.trees / model.outputs);
  return found;
}

}  // namespace lockstep::gbdt
