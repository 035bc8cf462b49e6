// Handles LightGBM's parameters: those that the user requested, and those with which the model was
// trained.
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

// Returns the parameters under LightGBM's own names. Throws Error in these cases:
//   - a name is unknown; the hint has the most similar name;
//   - two names mean the same parameter;
//   - a value has spaces or =;
//   - num_gpu is above 1;
//   - the parameter has an effect only in LightGBM's own program;
//   - the value names a file that does not exist.
Parameters resolve_parameters(const LightGbm& library, const Parameters& asked);

std::string parameter_text(const Parameters& parameters);  // "key=value key=value"

// Returns the section "parameters" of a model in LightGBM's text format. It has the parameters with
// which the model was trained.
std::map<std::string, std::string> parameters_of_model(const std::string& model);

// Returns how many numbers a model in this format predicts for a row. It is the number of classes
// if there are more than two, and otherwise 1.
int outputs_of_model(const std::string& model);

// The sizes of a model's trees. Each iteration grows one tree per output.
struct TreeSizes {
  std::int64_t trees = 0, most_leaves = 0, deepest = 0;
  double mean_leaves = 0;
};
TreeSizes tree_sizes(const std::string& model);

// Facts that a model in LightGBM's text format states about itself. They are read once.
struct ModelFacts {
  std::map<std::string, std::string> parameters;
  TreeSizes trees;
  int outputs = 1;
  // hash of only the trees, so that models with equal trees have equal hashes
  std::string trees_hash{};
};
ModelFacts read_facts(const std::string& model);

// Finds requested parameters (under LightGBM's own names) that training did not use. Returns a text
// for each of them; the result is empty if all were used. Values are compared by their meaning in
// LightGBM. Numbers are compared as numbers, and true and false are 1 and 0. Aliases of metrics and
// of boosting methods are equal to LightGBM's own names. boosting=goss means gbdt with
// data_sample_strategy=goss. The trees are checked too: their number, their leaves and their depth
// must not exceed the requested values.
std::vector<std::string> differences(const Parameters& asked, const ModelFacts& model);

// Returns the metrics of a list without repetition, under the names that LightGBM's text format
// uses. value: the list, as the parameter `metric` has it. "custom" means that there is no metric.
std::vector<std::string> metric_names(const std::string& value);
// Whether boosting=goss or data_sample_strategy=goss requests that rows are sampled by their
// gradients (GOSS).
bool is_goss(const Parameters& asked);

// Returns the value of a parameter, or `otherwise` if it is absent.
std::string value_of(const Parameters& parameters, const std::string& name,
                     const std::string& otherwise);

}  // namespace lockstep::gbdt
