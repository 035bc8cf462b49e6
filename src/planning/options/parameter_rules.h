// Rules that options set for a model's parameters. Patterns over names select the parameters. This
// code needs no tensors.
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
  std::optional<double> lr;            // replaces optimizer.lr
  std::optional<double> lr_factor;     // factor on optimizer.lr; never together with `lr`
  std::optional<double> weight_decay;  // replaces optimizer.weight_decay
  // Whether the rate is constant: without warm-up, curve and scale_lr.
  bool constant = false;
};

// Returns the rules in the order of the option. The first rule whose pattern matches a parameter
// applies to it. Throws Error that names the faulty entry.
std::vector<GroupRule> group_rules(const TrainOptions& options);

// "lr 0.001, constant rate, weight decay 0"
std::string words_of(const GroupRule& rule);

// Whether train.freeze freezes a parameter with these names. The last pattern that matches one of
// the names decides. A pattern that begins with ! keeps the parameter trained.
bool freezes(const std::vector<std::string>& patterns, const std::vector<std::string>& names);

// Returns each entry, such as "bert.*=encoder.*", as a pair. of: the name of the option, for
// messages. Throws Error that names the faulty entry.
using NamePair = std::pair<std::string, std::string>;
std::vector<NamePair> name_map(const std::vector<std::string>& entries,
                               const std::string& of = "init.map");

// Throws Error if optimizer.groups or init.map has a faulty entry. Also throws Error if init.map,
// init.missing or init.unexpected is set without init.from. No model is needed.
void check_parameter_options(const TrainOptions& options);

}  // namespace lockstep
