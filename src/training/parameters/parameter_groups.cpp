#include "training/parameters/parameter_groups.h"

#include "core/base/error.h"
#include "core/base/text/glob.h"
#include "core/base/text/text.h"
#include "planning/options/parameter_rules.h"

#include <algorithm>

namespace lockstep {
namespace {

using Names = std::vector<std::string>;

bool matches(const GroupRule& rule, const Names& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return glob_matches(rule.pattern, name); });
}

// AdamW's rate divided by the run's rate, for the parameters that muon leaves to AdamW.
double share_of_adamw(const TrainOptions& options) {
  const auto& optimizer = options.optimizer;
  return optimizer.adamw_lr > 0 ? optimizer.adamw_lr / optimizer.lr : 1;
}

ParameterRates rates_of(const TrainOptions& options, const Parameter& parameter,
                        const GroupRule* rule, Granularity granularity) {
  const auto& optimizer = options.optimizer;
  const bool decays = parameter.decay || optimizer.decay_norms_and_biases;
  const bool left_to_adamw =
      optimizer.kind == OptimizerKind::muon && granularity != Granularity::matrix;
  const double share = left_to_adamw ? share_of_adamw(options) : 1;
  ParameterRates rates{.lr_factor = parameter.lr_scale * share,
                       .constant_lr = {},
                       .weight_decay = decays ? optimizer.weight_decay : 0.0};
  if (rule == nullptr) return rates;
  if (rule->weight_decay) rates.weight_decay = *rule->weight_decay;
  if (rule->lr_factor) rates.lr_factor = *rule->lr_factor * share;
  if (rule->constant)
    rates.constant_lr = rule->lr ? *rule->lr : optimizer.lr * rates.lr_factor;
  else if (rule->lr)
    rates.lr_factor = *rule->lr / optimizer.lr;
  return rates;
}

void require_sense(const std::vector<GroupRule>& rules, const std::vector<Names>& trained,
                   const Names& frozen, const std::vector<bool>& taken) {
  for (std::size_t r = 0; r < rules.size(); ++r) {
    if (taken[r] || matches(rules[r], frozen)) continue;
    const bool shadowed = std::any_of(trained.begin(), trained.end(),
                                      [&](const Names& names) { return matches(rules[r], names); });
    if (shadowed)
      throw Error(cat("optimizer.groups: every parameter that \"", rules[r].pattern,
                      "\" matches belongs to an entry before it, and the first counts"),
                  "put the narrower pattern first");
    Names all = frozen;
    for (const Names& names : trained) all.insert(all.end(), names.begin(), names.end());
    throw Error(
        cat("optimizer.groups: no parameter of the model matches \"", rules[r].pattern, "\""),
        hint_for_pattern(rules[r].pattern, all));
  }
}

}  // namespace

ParameterGroups::ParameterGroups(const TrainOptions& options, const std::vector<Parameter>& trained,
                                 const std::vector<Alias>& aliases, const Names& frozen) {
  const std::vector<GroupRule> rules = group_rules(options);
  std::vector<Names> all;
  std::vector<bool> taken(rules.size());
  granularities_ =
      lockstep::granularities(options.optimizer.kind, optimized_parameters(trained, aliases));
  check_optimized(options, granularities_);
  for (const GroupRule& rule : rules)
    counts_.push_back({.pattern = rule.pattern, .words = words_of(rule)});
  for (const Parameter& parameter : trained) {
    all.push_back(all_names(parameter.name, aliases));
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [&](const GroupRule& one) { return matches(one, all.back()); });
    rates_.push_back(rates_of(options, parameter, rule == rules.end() ? nullptr : &*rule,
                              granularities_[rates_.size()]));
    if (rule == rules.end()) continue;
    const auto r = static_cast<std::size_t>(rule - rules.begin());
    taken[r] = true;
    counts_[r].parameters += parameter.tensor.numel();
  }
  require_sense(rules, all, frozen, taken);
}

}  // namespace lockstep
