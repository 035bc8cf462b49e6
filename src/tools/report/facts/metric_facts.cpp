#include "tools/report/facts/metric_facts.h"

#include <cmath>
#include <set>

#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

std::set<std::string> metric_names(const RunLog& log) {
  std::set<std::string> names;
  for (const LoggedEval& eval : log.evals)
    for (const auto& [name, value] : eval.metrics.items()) names.insert(name);
  return names;
}

std::string chosen_metric(const std::set<std::string>& names, const std::string& chosen) {
  if (names.contains(chosen)) return chosen;
  if (names.contains("loss")) return "loss";
  return names.size() == 1 ? *names.begin() : "";
}

const LoggedEval& best_eval(const RunLog& log) {
  for (auto eval = log.evals.rbegin(); eval != log.evals.rend(); ++eval)
    if (eval->best) return *eval;
  return log.evals.back();
}

Better better_of(const RunLog& log, const std::string& name, bool chosen) {
  const nlohmann::json said = log.evals.back().metrics.contains(name)
                                  ? log.evals.back().better.value(name, nlohmann::json())
                                  : nlohmann::json();
  if (said == "lower") return Better::lower;
  if (said == "higher") return Better::higher;
  const Better seen = chosen ? direction_of(log, name) : Better::unknown;
  return seen == Better::unknown && name == "loss" ? Better::lower : seen;
}

void add_metric_values(const RunLog& log, const std::string& name, Better better, Trial& trial) {
  const auto value_at = [&](const LoggedEval& eval) -> std::optional<double> {
    if (!eval.metrics.contains(name)) return std::nullopt;
    return number_or(eval.metrics, name.c_str(), NAN);
  };
  Quantity quantity{.unit = text_or(log.evals.back().units, name.c_str(), ""),
                    .scale = Scale::difference,
                    .better = better,
                    .aspect = Aspect::quality};
  quantity.name = "best." + name;
  quantity.title = name + ", best evaluation";
  trial.measure(quantity, value_at(best_eval(log)));
  quantity.name = "last." + name;
  quantity.title = name + ", last evaluation";
  trial.measure(quantity, value_at(log.evals.back()));
}

// Uses the logged steps if there are no evaluations.
void add_training_loss(const RunLog& log, Trial& trial) {
  if (!log.last_step.is_object() || !log.last_step.contains("loss")) return;
  trial.measure({.name = "train_loss",
                 .title = "training loss, last step",
                 .scale = Scale::difference,
                 .aspect = Aspect::quality},
                number_or(log.last_step, "loss", NAN));
}

}  // namespace

Better direction_of(const RunLog& log, const std::string& metric) {
  double least = INFINITY, most = -INFINITY;
  bool lower = true, higher = true;
  std::size_t compared = 0;
  for (const LoggedEval& eval : log.evals) {
    const double value = number_or(eval.metrics, metric.c_str(), NAN);
    if (!std::isfinite(value)) continue;
    if (std::isfinite(least)) {
      ++compared;
      lower = lower && eval.best == (value < least);
      higher = higher && eval.best == (value > most);
    }
    least = std::min(least, value);
    most = std::max(most, value);
  }
  if (compared == 0 || lower == higher) return Better::unknown;
  return lower ? Better::lower : Better::higher;
}

void add_metrics(const RunLog& log, const std::string& chosen, Trial& trial) {
  if (log.evals.empty()) return add_training_loss(log, trial);
  const std::set<std::string> names = metric_names(log);
  trial.metric = chosen_metric(names, chosen);
  for (const std::string& name : names) {
    const Better better = better_of(log, name, name == trial.metric);
    add_metric_values(log, name, better, trial);
    if (name != trial.metric) continue;
    trial.metric_better = better;
    for (const LoggedEval& eval : log.evals)
      trial.curve.push_back(
          {static_cast<double>(eval.step), eval.at_s, number_or(eval.metrics, name.c_str(), NAN)});
  }
}

}  // namespace lockstep
