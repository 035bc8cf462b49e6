// The registry of recipes, and the default behaviour of a recipe's options.
#include "planning/recipe_info.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/direct_recipe.h"
#include "planning/memory/memory.h"

#include <algorithm>

namespace lockstep {
namespace {

std::vector<RecipeInfo>& registry() {
  static std::vector<RecipeInfo> all;
  return all;
}

// Whether the text is a path. Other texts may begin with a slash too, so the path's folder must
// exist.
bool names_a_place(const std::string& text) {
  const std::filesystem::path path(text);
  std::error_code ignored;
  return path.is_absolute() && path.has_filename() && path.parent_path() != path.root_path() &&
         std::filesystem::is_directory(path.parent_path(), ignored);
}

void shorten_places(nlohmann::json& value) {
  if (value.is_structured())
    for (nlohmann::json& one : value) shorten_places(one);
  if (value.is_string() && names_a_place(value.get<std::string>()))
    value = std::filesystem::path(value.get<std::string>()).filename().string();
}

}  // namespace

RecipeOptions::~RecipeOptions() = default;

void RecipeOptions::defaults(TrainOptions&, bool) const {}

std::optional<BuiltIn> RecipeOptions::built_in() const { return std::nullopt; }

void RecipeOptions::check(const TrainOptions&) const {}

Prepared RecipeOptions::prepare(const PrepareContext&) { return {}; }

std::vector<std::string> RecipeOptions::metric_names() const { return {}; }

MemoryEstimate RecipeOptions::memory(const TrainOptions& train, const Facts& facts) const {
  const double parameter = weight_bytes_per_parameter(train) + optimizer_bytes_per_parameter(train);
  const auto parameters = static_cast<double>(facts.parameters);
  const double frozen_bytes = train.precision == Precision::fp32 ? 4 : 2;
  return {.fixed_bytes =
              parameter * parameters + frozen_bytes * static_cast<double>(facts.frozen_parameters),
          .optimizer_bytes = optimizer_bytes_per_parameter(train) * parameters};
}

std::optional<double> RecipeOptions::flops_per_sample(const Facts&) const { return std::nullopt; }

void RecipeOptions::forget_places(nlohmann::json& extra,
                                  std::map<std::string, std::string>&) const {
  shorten_places(extra);
}

PredictInput RecipeOptions::predict_input() const {
  constexpr const char* prompt = "predict.prompt";
  return {.option = table.has(prompt) ? prompt : ""};
}

std::vector<PredictItem> RecipeOptions::items(const ItemQuery& query) const {
  return list_items(predict_input(), query);
}

std::vector<Score> RecipeOptions::score(const ScoreContext&) {
  std::vector<std::string> able;
  for (const RecipeInfo& info : recipes())
    if (info.make_options()->can_score()) able.push_back(info.name);
  throw Error("this recipe cannot score outputs that are there already",
              able.empty() ? "lockstep evaluate RUN says how good a model is"
                           : cat("recipes that can: ", join(able, ", ")));
}

void RecipeOptions::add_item_options(bool paths) {
  table.add(input_key, item_options.input,
            {.meaning = paths ? "files, folders and globs to predict; - reads standard input"
                              : "what to predict; - reads standard input, one a line",
             .is_path = paths,
             .no_paths = {"-"}});
  table.add(out_key, item_options.out,
            {.meaning = "folder of the outputs; empty is RUN/predictions", .is_path = true});
  table.add(also_key, item_options.also,
            {.meaning = "further runs and exports of the recipe whose outputs are averaged with "
                        "those of RUN, where the recipe can"});
}

void check_best_metric(const std::vector<std::string>& names, const std::string& wanted) {
  if (std::find(names.begin(), names.end(), wanted) != names.end()) return;
  const std::string near = nearest(wanted, names);
  throw Error(
      cat("checkpoint.best_metric must be one of ", join(names, ", "), ", but is ", wanted),
      near.empty() ? "leave it out to take the first of them" : cat("did you mean ", near, "?"));
}

void register_recipe(RecipeInfo info) {
  LOCKSTEP_CHECK(!info.name.empty() && info.make_options);
  for (const RecipeInfo& other : registry())
    if (other.name == info.name)
      throw Error(cat("there are two recipes named \"", info.name, "\""),
                  "rename the one in the plugin");
  registry().push_back(std::move(info));
}

const std::vector<RecipeInfo>& recipes() { return registry(); }

const RecipeInfo& find_recipe(const std::string& name) {
  std::vector<std::string> names;
  for (const RecipeInfo& info : registry()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  if (find_direct_recipe(name) != nullptr)
    throw Error(cat(name,
                    " trains in the tool itself, without the engine: of the commands that take a "
                    "recipe there are only train, config and batch for it"),
                cat("lockstep train ", name, ", lockstep batch ", name, "; lockstep batch ", name,
                    " --dry-run --measure says how long a batch takes"));
  for (const DirectRecipe& direct : direct_recipes()) names.push_back(direct.name);
  const std::string near = nearest(name, names);
  std::string hint = "load the plugin that has it with --plugin";
  if (!near.empty())
    hint = cat("did you mean \"", near, "\"?");
  else if (!names.empty())
    hint = cat("the recipes are: ", join(names, ", "), "; --plugin loads others");
  throw Error(cat("there is no recipe named \"", name, "\""), hint);
}

}  // namespace lockstep
