// Trials made by hand, and what a comparison says of them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/report/comparison/comparison.h"

namespace lockstep {

// A run of which everything that is needed is known.
inline Trial known_trial(const std::string& name, double step_s) {
  Trial trial{.name = name, .path = "/runs/" + name, .source = "run", .state = "finished"};
  trial.set("recipe", FactKind::work, "toy");
  trial.set("data", FactKind::work, "d0");
  trial.set("options", FactKind::work, "listed");
  trial.set("model.layers", FactKind::work, 8);
  trial.set("optimizer.kind", FactKind::work, "adamw");
  trial.set("optimizer.lr", FactKind::work, 1e-3);
  trial.set("optimizer.weight_decay", FactKind::work, 0.01);
  trial.set("global_batch", FactKind::work, 32);
  trial.set("steps", FactKind::amount, 100);
  trial.set("samples", FactKind::amount, 3200);
  trial.set("precision", FactKind::means, "bf16");
  trial.set("seed", FactKind::means, 1);
  trial.set("devices", FactKind::place, "1 x NVIDIA H200");
  trial.set("device_count", FactKind::note, 1);
  trial.set("cpu", FactKind::place, "Some CPU");
  trial.measure({.name = "step_s", .title = "step time", .unit = "s"}, step_s);
  return trial;
}

inline TrialGroup group(const std::string& name, const std::vector<double>& step_times) {
  TrialGroup made{.name = name, .trials = {}};
  for (std::size_t i = 0; i < step_times.size(); ++i)
    made.trials.push_back(known_trial(name + std::to_string(i + 1), step_times[i]));
  return made;
}

// Sets a fact of all trials.
inline TrialGroup with(TrialGroup group, const std::string& fact, FactKind kind,
                       const nlohmann::json& value) {
  for (Trial& trial : group.trials) trial.set(fact, kind, value);
  return group;
}

inline const QuantityRow& row(const Comparison& comparison, const std::string& name,
                              const std::string& per = "") {
  for (const QuantityRow& one : comparison.rows)
    if (one.what.name == name && one.per == per) return one;
  ADD_FAILURE() << "no row " << name << " per " << per;
  static const QuantityRow none;
  return none;
}

inline std::vector<std::string> flag_names(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const RedFlag& flag : comparison.flags) names.push_back(flag.name);
  return names;
}

inline const Difference* difference(const Comparison& comparison, const std::string& key) {
  for (const Difference& one : comparison.differences)
    if (one.key == key) return &one;
  return nullptr;
}

}  // namespace lockstep
