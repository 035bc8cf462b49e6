#include "planning/schedule/resumed_rate.h"

#include "core/base/text/text.h"
#include "planning/options/parameter_rules.h"
#include "planning/schedule/schedule.h"
#include "planning/words.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lockstep {
namespace {

constexpr double same_share = 0.02;

bool is_same_rate(double a, double b) {
  return std::fabs(a - b) <= same_share * std::max(std::fabs(a), std::fabs(b));
}

// Whether the curves differ only in their length.
bool only_longer(const Schedule& before, const Schedule& now) {
  return before.kind == now.kind && before.base_lr == now.base_lr && before.min_lr == now.min_lr &&
         before.warmup_steps == now.warmup_steps && before.total_steps != now.total_steps;
}

// The optimizer.lr with which the rate becomes `rate`, after scale_lr is applied.
double option_for(double rate, const Plan& now, const TrainOptions& options) {
  const double scale = options.optimizer.lr > 0 ? now.schedule.base_lr / options.optimizer.lr : 1;
  return scale > 0 ? rate / scale : rate;
}

// Whether a change of optimizer.lr would change the rates of some parameters relative to others.
bool has_rates_beside_the_option(const TrainOptions& options) {
  const auto& optimizer = options.optimizer;
  if (optimizer.kind == OptimizerKind::muon && optimizer.adamw_lr > 0) return true;
  const std::vector<GroupRule> rules = group_rules(options);
  return std::any_of(rules.begin(), rules.end(),
                     [](const GroupRule& rule) { return rule.lr.has_value() != rule.constant; });
}

}  // namespace

std::string resumed_rate_note(const Plan& before, const Plan& now, const TrainOptions& options,
                              std::int64_t step) {
  if (step < 1 || step >= now.total_steps) return "";
  const double last = learning_rate(before.schedule, step - 1);
  const double next = learning_rate(now.schedule, step);
  // No warning if the old schedule would have the same jump here, as at a restart.
  const bool would_have =
      step < before.total_steps && is_same_rate(learning_rate(before.schedule, step), next);
  if (is_same_rate(last, next) || would_have) return "";
  std::string text = cat("warning: the learning rate jumps from ", rate_text(last), " in step ",
                         step, " to ", rate_text(next), " in step ", step + 1);
  if (only_longer(before.schedule, now.schedule))
    text += cat(": ", now.schedule.kind->name, " reached its value for step ", step, " of ",
                before.total_steps, ", and now ends at step ", now.total_steps);
  if (last <= 0 || has_rates_beside_the_option(options)) return text;
  return cat(text, "; to go on at ", rate_text(last), ": schedule.kind=constant schedule.warmup=0 ",
             "optimizer.lr=", rate_text(option_for(last, now, options)));
}

}  // namespace lockstep
