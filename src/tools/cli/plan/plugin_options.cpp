// Builds an option table from its description.
#include "tools/cli/plan/plugin_options.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/options/train_options.h"
#include "planning/recipe_info.h"

#include <cmath>
#include <deque>
#include <limits>
#include <utility>

namespace lockstep::cli {
namespace {

// Owns the values of a described option table. Deques are used because the addresses of their
// elements stay valid.
class DescribedOptions : public RecipeOptions {
 public:
  DescribedOptions(const nlohmann::json& recipe, AskRecipe ask)
      : cpu_defaults_(recipe.at("cpu_defaults")),
        gpu_defaults_(recipe.at("gpu_defaults")),
        metric_names_(recipe.value("metrics", std::vector<std::string>())),
        low_precision_(recipe.value("low_precision", false)),
        can_score_(recipe.value("can_score", false)),
        name_(recipe.at("name")),
        ask_(std::move(ask)) {
    if (recipe.contains("predict_input"))
      predict_input_ = predict_input_from_json(recipe["predict_input"]);
    for (const nlohmann::json& option : recipe.at("options")) add(option);
    for (const nlohmann::json& preset : recipe.at("presets")) {
      Preset described{.name = preset.at("name"), .meaning = preset.at("meaning")};
      for (const auto& [key, value] : preset.at("values").items())
        described.values.emplace_back(key, value.get<std::string>());
      table.add_preset(std::move(described));
    }
  }

  void defaults(TrainOptions& train, bool has_gpu) const override {
    OptionTable* const tables[] = {&train.table};
    apply_json(tables, has_gpu ? gpu_defaults_ : cpu_defaults_);
  }

  std::vector<std::string> metric_names() const override { return metric_names_; }
  bool low_precision() const override { return low_precision_; }
  PredictInput predict_input() const override { return predict_input_; }
  std::vector<PredictItem> items(const ItemQuery& query) const override {
    return items_from_cbor(ask("items", {{"inputs", query.inputs},
                                         {"standard_input", query.standard_input.string()},
                                         {"run_dir", query.run_dir.string()},
                                         {"cache_dir", query.cache_dir.string()}}));
  }
  bool can_score() const override { return can_score_; }
  std::vector<Score> score(const ScoreContext& context) override {
    if (!can_score_) return RecipeOptions::score(context);
    std::vector<Score> scores;
    const std::string answer = ask("score", {{"predictions", context.predictions.string()}});
    for (const nlohmann::json& score : nlohmann::json::parse(answer))
      scores.push_back({.name = score.at("name"),
                        .value = score.at("value").is_number() ? score["value"].get<double>() : NAN,
                        .unit = score.at("unit"),
                        .lower_is_better = score.at("lower_is_better")});
    return scores;
  }

 private:
  // Asks the process that has loaded the recipe's code.
  std::string ask(const char* what, nlohmann::json request) const {
    LOCKSTEP_CHECK(ask_);
    request["recipe"] = name_;
    request["config"] = table.to_json();
    return ask_(what, request);
  }

  void add(const nlohmann::json& option) {
    const std::string key = option.at("key"), type = option.at("type");
    const nlohmann::json& value = option.at("default");
    OptionSpec spec{.meaning = option.at("meaning"), .unit = option.value("unit", "")};
    if (option.at("min").is_number()) spec.min = option["min"];
    if (option.at("max").is_number()) spec.max = option["max"];
    spec.is_path = option.value("is_path", false);
    spec.no_paths = option.value("no_paths", std::vector<std::string>());
    if (type == "boolean") {
      table.add(key, booleans_.emplace_back(value.get<bool>()), spec);
    } else if (type == "integer") {
      if (!value.is_number_integer())
        throw Error(cat(key, " has a default that is no whole number"));
      table.add(key, integers_.emplace_back(value.get<std::int64_t>()), spec);
    } else if (type == "real") {
      table.add(key, reals_.emplace_back(value.get<double>()), spec);
    } else if (type == "duration") {
      table.add(key, durations_.emplace_back(Duration{value.get<double>()}), spec);
    } else if (type == "list") {
      table.add(key, lists_.emplace_back(value.get<std::vector<std::string>>()), spec);
    } else {
      if (option.at("choices").is_array()) spec.choices = option["choices"];
      table.add(key, texts_.emplace_back(value.get<std::string>()), spec);
    }
  }

  nlohmann::json cpu_defaults_, gpu_defaults_;
  std::vector<std::string> metric_names_;
  bool low_precision_, can_score_;
  std::string name_;
  AskRecipe ask_;
  PredictInput predict_input_;
  std::deque<bool> booleans_;
  std::deque<std::int64_t> integers_;
  std::deque<double> reals_;
  std::deque<Duration> durations_;
  std::deque<std::string> texts_;
  std::deque<std::vector<std::string>> lists_;
};

}  // namespace

std::unique_ptr<RecipeOptions> described_options(const nlohmann::json& recipe, AskRecipe ask) {
  try {
    return std::make_unique<DescribedOptions>(recipe, std::move(ask));
  } catch (const nlohmann::json::exception& error) {
    throw Error(cat("the plugin's description of its recipe cannot be read: ", error.what()),
                "build the plugin with the version of Lockstep that loads it");
  }
}

void register_described_recipe(const nlohmann::json& recipe, AskRecipe ask) {
  register_recipe(
      {.name = recipe.at("name"),
       .summary = recipe.at("summary"),
       .make_options = [recipe, ask = std::move(ask)] { return described_options(recipe, ask); }});
}

}  // namespace lockstep::cli
