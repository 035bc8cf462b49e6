// Rules that options give for a model's parameters, by patterns over their names. No tensors here.
#pragma once

#include "planning/options/train_options.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// An entry of optimizer.groups: "head.*: lr=1e-3 weight_decay=0 schedule=constant".
struct GroupRule {
  std::string pattern;
  std::optional<double> lr;            // in place of optimizer.lr
  std::optional<double> lr_factor;     // times optimizer.lr; never beside `lr`
  std::optional<double> weight_decay;  // in place of optimizer.weight_decay
  // The rate stays the same from the first step to the last: no warm-up, no curve, no scale_lr.
  bool constant = false;
};

// Returns the rules in the order of the option. For each parameter, only the first rule whose
// pattern matches counts. Throws Error that names the entry.
std::vector<GroupRule> group_rules(const TrainOptions& options);

// "lr 0.001 constant, weight decay 0".
std::string words_of(const GroupRule& rule);

// Whether train.freeze freezes a parameter with these names. The last pattern that matches any of
// them counts. A pattern that begins with ! keeps the parameter trained.
bool freezes(const std::vector<std::string>& patterns, const std::vector<std::string>& names);

// Returns each entry, such as "bert.*=encoder.*", as a pair. of: the name of the option. Throws
// Error that names the entry.
using NamePair = std::pair<std::string, std::string>;
std::vector<NamePair> name_map(const std::vector<std::string>& entries,
                               const std::string& of = "init.map");

// Checks the options above alone, before there is a model. Throws Error.
void check_parameter_options(const TrainOptions& options);

}  // namespace lockstep
