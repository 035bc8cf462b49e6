// Parameters of LightGBM: those that were asked for, and those that the booster really used.
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

// The same under the names that LightGBM itself uses. Throws Error: a name that it does not know
// (the nearest is named), two names of one parameter, a value with spaces, num_gpu above 1, what
// only LightGBM's own program reads, and a file that is not there.
Parameters resolve_parameters(const LightGbm& library, const Parameters& asked);

std::string parameter_text(const Parameters& parameters);  // "key=value key=value"

// The section "parameters" of a model in LightGBM's text format: what its booster was configured
// with.
std::map<std::string, std::string> parameters_of_model(const std::string& model);

// Numbers that such a model predicts for a row: its classes, if it has more than two, or 1.
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
  std::string trees_hash{};  // of the trees alone: the same if other parameters gave the same
};
ModelFacts read_facts(const std::string& model);

// Parameters that were asked for (names of LightGBM itself) and not used: a text each, empty if all
// is as asked. Values are compared by what they mean to LightGBM: numbers as numbers, and true and
// false as 1 and 0. Other names of metrics and of ways to boost count as its own (boosting=goss is
// gbdt with data_sample_strategy=goss). The trees are compared as well: they can have no more
// leaves and be no deeper than asked.
std::vector<std::string> differences(const Parameters& asked, const ModelFacts& model);

// The metrics of such a list under the names that a model has them by, each once: "custom" is none.
std::vector<std::string> metric_names(const std::string& value);
// Whether rows are drawn by their gradients (GOSS), under either of its two names.
bool is_goss(const Parameters& asked);

// The value of a parameter among these; `otherwise` if it is not there.
std::string value_of(const Parameters& parameters, const std::string& name,
                     const std::string& otherwise);

}  // namespace lockstep::gbdt
