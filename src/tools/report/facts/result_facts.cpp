#include "tools/report/facts/result_facts.h"

#include <map>
#include <nlohmann/json.hpp>

#include "tools/report/facts/option_kinds.h"

namespace lockstep {
namespace {

bool has_word(const std::string& name, const char* word) {
  return name == word || name.ends_with(std::string(".") + word) ||
         name.ends_with(std::string("_") + word);
}

// The title of a result, as runs and batches use it.
std::string title_of(const std::string& name) {
  static const std::map<std::string, std::string> titles = {{"wall_s", "time"},
                                                            {"train_s", "training time"},
                                                            {"step_s", "step time"},
                                                            {"sample_s", "time per sample"},
                                                            {"job_s", "mean time of a job"},
                                                            {"energy_j", "energy"}};
  const auto title = titles.find(name);
  return title == titles.end() ? name : title->second;
}

}  // namespace

ResultRole role_of_result(const std::string& name, const nlohmann::json& value) {
  if (name.starts_with("used.") && is_seed(name)) return ResultRole::means;
  if (name.starts_with("used.") || name == "data" || name.starts_with("data."))
    return ResultRole::work;
  if (name.starts_with("rows.") || name.starts_with("samples.")) return ResultRole::amount;
  if (name == "device") return ResultRole::place;
  if (name == model_hash_result) return ResultRole::outcome;
  return value.is_number() ? ResultRole::quantity : ResultRole::work;
}

FactKind kind_of_role(ResultRole role) {
  switch (role) {
    case ResultRole::work:
      return FactKind::work;
    case ResultRole::amount:
      return FactKind::amount;
    case ResultRole::means:
      return FactKind::means;
    case ResultRole::place:
      return FactKind::place;
    case ResultRole::quantity:
    case ResultRole::outcome:
      break;
  }
  return FactKind::note;
}

Quantity quantity_of_name(const std::string& name) {
  Quantity quantity{.name = name, .title = title_of(name)};
  if (name.ends_with("_per_s")) {
    quantity.better = Better::higher;
  } else if (name.ends_with("_s") || has_word(name, "seconds")) {
    quantity.unit = "s";
    quantity.total = name == "wall_s" || name == "train_s";
  } else if (name.ends_with("_bytes")) {
    quantity.unit = "bytes";
    quantity.aspect = Aspect::memory;
  } else if (name.ends_with("_j")) {
    quantity.unit = "J";
    quantity.aspect = Aspect::energy;
    quantity.total = name == "energy_j";
  } else {
    quantity.scale = Scale::difference;
    quantity.aspect = Aspect::quality;
    const bool lower = has_word(name, "loss") || has_word(name, "error");
    quantity.better = lower ? Better::lower : Better::unknown;
  }
  return quantity;
}

void add_results(const nlohmann::json& results, Trial& trial) {
  for (const auto& [name, value] : results.items()) {
    if (value.is_null() || value.is_structured()) continue;
    const ResultRole role = role_of_result(name, value);
    if (role == ResultRole::quantity) {
      trial.measure(quantity_of_name(name), value.get<double>());
      continue;
    }
    if (name.starts_with("used.")) trial.set("options", FactKind::work, "listed");
    trial.set(name, kind_of_role(role), value);
  }
}

}  // namespace lockstep
