// Prints option tables and facts as JSON on standard output.
#include "worker/describe.h"

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/say.h"
#include "core/config/option_help.h"
#include "planning/run_setup.h"
#include "training/checkpoint/first_weights.h"
#include "training/data/training_rows.h"
#include "training/parameters/freeze.h"
#include "training/parameters/model_parameters.h"
#include "training/parameters/parameter_groups.h"
#include "training/recipe/plugin.h"
#include "training/recipe/recipe.h"
#include "training/update/model_buffers.h"
#include "worker/output_stream.h"

namespace lockstep {

namespace {

// The engine's options whose defaults the recipe changes.
nlohmann::json changed_defaults(const RecipeOptions& options, bool has_gpu) {
  TrainOptions changed;
  const nlohmann::json plain = changed.table.to_json();
  options.defaults(changed, has_gpu);
  nlohmann::json difference = nlohmann::json::object();
  const nlohmann::json now = changed.table.to_json();
  for (const auto& [key, value] : now.items())
    if (plain.at(key) != value) difference[key] = value;
  return difference;
}

void describe_order(const Dataset& data, const TrainOptions& options, Facts& facts) {
  check_order(data, {.seed = static_cast<std::uint64_t>(options.seed),
                     .shuffle = options.data.shuffle,
                     .drop_last = options.data.drop_last,
                     .group_by_length = options.data.group_by_length});
  facts.epoch_size = data.epoch_size();
  facts.rows_per_sample = data.rows_per_sample();
}

// Counts the trained parameters by the groups that the options define.
void count_trained(const TrainOptions& options, const ModelParameters& sorted, Facts& facts) {
  std::vector<Parameter> trained;
  std::vector<std::string> frozen;
  for (const UniqueParameter& one : sorted.trained) trained.push_back(one.parameter);
  for (const UniqueParameter& one : sorted.frozen) frozen.push_back(one.parameter.name);
  facts.groups = ParameterGroups(options, trained, sorted.aliases, frozen).counts();
  if (goes_by_parameters(options.optimizer.kind))
    facts.optimized = optimized_parameters(trained, sorted.aliases, sorted.guessed_uses);
}

Purpose purpose_of(const std::string& word) {
  if (word == "plan") return Purpose::plan;
  if (word == "evaluate") return Purpose::evaluate;
  return word == "predict" ? Purpose::predict : Purpose::train;
}

// Returns the facts that the tool prepared. If a plugin has the code for that, the tool cannot
// prepare them, and this process does.
Prepared prepared_for(const RunSetup& setup, const nlohmann::json& request) {
  if (request.value("prepared", false))
    return {.facts = facts_from_json(request.at("facts")), .extra = request.at("extra")};
  return setup.options->prepare({.purpose = purpose_of(request.at("purpose")),
                                 .cache_dir = request.at("cache_dir").get<std::string>(),
                                 .run_dir = request.at("run_dir").get<std::string>(),
                                 .say = say});
}

// Adds the facts that only the recipe and its data know.
void count(RunSetup& setup, const nlohmann::json& init) {
  Facts& facts = setup.prepared.facts;
  const auto recipe = find_recipe_factory(setup.recipe)(*setup.options, setup.prepared);
  const DatasetPair data = recipe->data();
  facts.train_samples = data.train ? data.train->size() : 0;
  facts.valid_samples = data.valid ? data.valid->size() : 0;
  if (facts.train_samples > 0) describe_order(*data.train, *setup.train, facts);
  const auto model = recipe->build(static_cast<std::uint64_t>(setup.train->seed));
  if (!init.is_null())
    check_first_weights(*model, *recipe, *setup.train, weight_source_from_json(init));
  freeze(model->parameters(), setup.train->train.freeze);
  const ModelParameters parameters = sort_parameters(model->parameters());
  for (const NamedTensor& buffer : model->buffers())
    facts.batch_norm = facts.batch_norm || buffer.name.ends_with("running_mean");
  facts.torch_batch_norm = torch_batch_norm(model->buffers());
  count_trained(*setup.train, parameters, facts);
  facts.parameters = elements_of(parameters.trained);
  facts.frozen_parameters = elements_of(parameters.frozen);
  facts.flops_per_sample = setup.options->flops_per_sample(facts).value_or(0);
}

nlohmann::json request_of(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) throw Error("one file with the request is needed");
  return nlohmann::json::from_cbor(read_file(arguments[0], data_bytes));
}

std::unique_ptr<RecipeOptions> options_of(const nlohmann::json& request) {
  auto options = find_recipe(request.at("recipe")).make_options();
  OptionTable* const tables[] = {&options->table};
  apply_json(tables, request.at("config"));
  return options;
}

}  // namespace

int describe_recipes() {
  nlohmann::json all = nlohmann::json::array();
  for (const RecipeInfo& info : recipes()) {
    const auto options = info.make_options();
    OptionTable* const tables[] = {&options->table};
    nlohmann::json described = options_json(tables);
    described["name"] = info.name;
    described["summary"] = info.summary;
    described["metrics"] = options->metric_names();
    described["low_precision"] = options->low_precision();
    described["predict_input"] = to_json(options->predict_input());
    described["can_score"] = options->can_score();
    described["cpu_defaults"] = changed_defaults(*options, false);
    described["gpu_defaults"] = changed_defaults(*options, true);
    all.push_back(std::move(described));
  }
  OutputStream().write(all.dump() + "\n");
  return 0;
}

int print_facts(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) throw Error("facts needs one file with recipe and config");
  const nlohmann::json request = nlohmann::json::parse(read_file(arguments[0], data_bytes));
  RunSetup setup = make_setup(request.at("recipe"), "", request.value("has_gpu", false));
  const auto tables = setup.tables();
  apply_json(tables, request.at("config"));
  setup.options->check(*setup.train);
  setup.prepared = prepared_for(setup, request);
  Facts& facts = setup.prepared.facts;
  // Prediction needs no training data, which may no longer exist.
  if (purpose_of(request.at("purpose")) != Purpose::predict)
    count(setup, request.value("init", nlohmann::json()));
  nlohmann::json keep = nlohmann::json::array();
  for (const auto& file : setup.prepared.keep) keep.push_back(file.string());
  const nlohmann::json answer{{"facts", to_json(facts)},
                              {"extra", setup.prepared.extra},
                              {"keep", keep},
                              {"memory", to_json(setup.options->memory(*setup.train, facts))}};
  OutputStream().write(answer.dump() + "\n");
  return 0;
}

int print_items(const std::vector<std::string>& arguments) {
  const nlohmann::json request = request_of(arguments);
  const std::unique_ptr<RecipeOptions> options = options_of(request);
  const auto path = [&](const char* key) { return request.at(key).get<std::string>(); };
  OutputStream().write(to_cbor(options->items({.inputs = request.at("inputs"),
                                               .standard_input = path("standard_input"),
                                               .run_dir = path("run_dir"),
                                               .cache_dir = path("cache_dir")})));
  return 0;
}

int print_score(const std::vector<std::string>& arguments) {
  const nlohmann::json request = request_of(arguments);
  const std::unique_ptr<RecipeOptions> options = options_of(request);
  nlohmann::json all = nlohmann::json::array();
  for (const Score& score :
       options->score({.predictions = request.at("predictions").get<std::string>(), .say = say}))
    all.push_back({{"name", score.name},
                   {"value", score.value},
                   {"unit", score.unit},
                   {"lower_is_better", score.lower_is_better}});
  OutputStream().write(all.dump() + "\n");
  return 0;
}

}  // namespace lockstep
