// LightGBM's parameters: those that the user requested, and those that the booster really used.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "recipes/gbdt/lightgbm/library.h"

namespace lockstep::gbdt {

using Parameters = std::vector<std::pair<std::string, std::string>>;

// Returns the parameters under LightGBM's own names. Throws Error for an unknown name (it suggests
// the nearest), two names of one parameter, a value with spaces, num_gpu above 1, a parameter that
// only LightGBM's own program reads, and a file that does not exist.
Parameters resolve_parameters(const LightGbm& library, const Parameters& asked);

std::string parameter_text(const Parameters& parameters);  // "key=value key=value"

// The section "parameters" of a model in LightGBM's text format, which is the configuration of its
// booster.
std::map<std::string, std::string> parameters_of_model(const std::string& model);

// How many numbers such a model predicts for a row: one per class if it has more than two, else 1.
int outputs_of_model(const std::string& model);

// The sizes of the trees in such a text. An iteration grows as many as the model has outputs.
struct TreeSizes {
  std::int64_t trees = 0, most_leaves = 0, deepest = 0;
  double mean_leaves = 0;
};
TreeSizes tree_sizes(const std::string& model);

// The facts that a model in LightGBM's text format holds about itself, read once.
struct ModelFacts {
  std::map<std::string, std::string> parameters;
  TreeSizes trees;
  int outputs = 1;
  // hash of the trees alone; equal if other parameters gave the same trees
  std::string trees_hash{};
};
ModelFacts read_facts(const std::string& model);

// Finds requested parameters (LightGBM's own names) that were not used. Returns a text for each;
// empty if all were used. Values are compared by their meaning in LightGBM: numbers as numbers, and
// true and false as 1 and 0. Other names of metrics and of boosting methods count as LightGBM's own
// (boosting=goss means gbdt with data_sample_strategy=goss). The trees are checked as well: they
// must not have more leaves or be deeper than requested.
std::vector<std::string> differences(const Parameters& asked, const ModelFacts& model);

// The metrics of such a list by their names in a model, each once. "custom" means none.
std::vector<std::string> metric_names(const std::string& value);
// Whether rows are sampled by their gradients (GOSS), under either of its two names.
bool is_goss(const Parameters& asked);

// The value of a parameter; `otherwise` if the parameter is absent.
std::string value_of(const Parameters& parameters, const std::string& name,
                     const std::string& otherwise);

}  // namespace lockstep::gbdt
