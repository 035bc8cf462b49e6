#include "tools/report/comparison/differences.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/report/facts/option_kinds.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr double clocks_alike = 0.02, bytes_alike = 0.5;

// The tolerance of facts that vary from run to run. Their means are compared.
double tolerance_of(const std::string& key) {
  return key == "clock_mhz" ? clocks_alike : key == "read_bytes" ? bytes_alike : 0;
}

bool is_told_elsewhere(const std::string& key) {
  static const std::set<std::string> keys = {
      "started", "state", "tags", "note", "name", "busy_percent", "device_count", "flops_per_step"};
  return keys.contains(key);
}

// Whether the fact is required for a comparison of times. If it is unknown, times are not
// comparable.
bool is_needed(const std::string& key) {
  return key == "data" || key == "options" || key == "devices" || key == "global_batch";
}

// Facts that are reported as missing if neither side has them.
std::vector<std::string> asked_of(const TrialGroup& a, const TrialGroup& b) {
  std::vector<std::string> keys = {"data", "options", "devices", "cpu", "read_bytes"};
  bool steps = false, gpus = false;
  for (const TrialGroup* group : {&a, &b})
    for (const Trial& trial : group->trials) {
      steps = steps || trial.find("step_s") != nullptr || trial.find("sample_s") != nullptr;
      const json devices = trial.value("devices");
      gpus =
          gpus || trial.facts.contains("driver") ||
          (devices.is_string() && devices.get<std::string>().find("NVIDIA") != std::string::npos);
    }
  if (steps) keys.insert(keys.end(), {"global_batch", "precision"});
  if (gpus) keys.insert(keys.end(), {"driver", "clock_mhz", "throttled_by", "other_processes"});
  return keys;
}

bool is_identity_of_data(const std::string& key) {
  return key == "data" || key.starts_with("data.") || key == "recipe" || key == "valid_samples";
}

// Whether the fact describes the place, and is only reported.
bool is_told_only(const std::string& key) {
  static const std::set<std::string> keys = {"device_ids",    "host",         "clock_mhz",
                                             "power_limit_w", "throttled_by", "other_processes",
                                             "read_bytes",    "peak_flops"};
  return keys.contains(key);
}

// Options of the engine whose names look like data. They are parameters.
bool is_engine_data(const std::string& key) {
  return key == "data.shuffle" || key == "data.drop_last" || key == "data.group_by_length";
}

std::vector<Aspect> blocks_of(const std::string& key, FactKind kind) {
  using enum Aspect;
  if (kind == FactKind::work) {
    if (is_identity_of_data(key) && !is_engine_data(key))
      return {time, goal, quality, memory, energy, use};
    return {time, memory, energy, use};
  }
  if (kind == FactKind::place && !is_told_only(key)) return {time, goal, energy, use};
  return {};
}

struct SideValue {
  json value;  // null: unknown for at least one trial
  bool within = false;
};

SideValue side_value(const TrialGroup& group, const std::string& key) {
  std::vector<json> values;
  for (const Trial& trial : group.trials) {
    values.push_back(trial.value(key));
    if (values.back().is_null()) return {};
  }
  if (std::all_of(values.begin(), values.end(), [&](const json& one) { return one == values[0]; }))
    return {values[0], false};
  std::sort(values.begin(), values.end());
  return {values, true};
}

bool about_equal(const json& a, const json& b, double tolerance) {
  if (a == b) return true;
  if (!a.is_number() || !b.is_number()) return false;
  constexpr double rounding = 1e-9;
  const double x = a.get<double>(), y = b.get<double>();
  return std::abs(x - y) <= std::max(tolerance, rounding) * std::max(std::abs(x), std::abs(y));
}

// Describes the difference of B from A for facts with one value per job.
std::string difference_of_objects(const json& a, const json& b) {
  std::size_t both = 0, other = 0;
  std::string first;
  for (const auto& [name, value] : a.items()) {
    if (!b.contains(name)) continue;
    ++both;
    if (about_equal(value, b[name], 0)) continue;
    if (++other == 1) first = cat(fact_text(b[name]), " against ", fact_text(value));
  }
  return cat(first, other > 1 ? cat(" and others, in ", other, " of ", both, " jobs")
                              : cat(", in ", other, " of ", both, " jobs"));
}

std::string side_text(const SideValue& side) { return fact_text(side.value); }

std::string difference_text(const std::string& key, const SideValue& a, const SideValue& b) {
  if (a.value.is_object() && b.value.is_object() && !a.within && !b.within)
    return cat(key, " ", difference_of_objects(a.value, b.value));
  return cat(key, " ", side_text(b), " against ", side_text(a));
}

FactKind kind_of(const TrialGroup& a, const TrialGroup& b, const std::string& key) {
  for (const TrialGroup* group : {&a, &b})
    for (const Trial& trial : group->trials)
      if (const auto fact = trial.facts.find(key); fact != trial.facts.end())
        return fact->second.kind;
  return key == "data" || key == "options" || key == "global_batch" ? FactKind::work
         : key == "precision"                                       ? FactKind::means
                                                                    : FactKind::place;
}

// Whether `names` contains the fact. "options" contains every work option without a fact of its
// own.
bool any_names(const std::vector<std::string>& names, const std::string& fact, FactKind kind) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return names_fact(name, fact) || (name == "options" && kind == FactKind::work &&
                                      !is_identity_of_data(fact) && fact != "job_list");
  });
}

// Facts that docs/reference/comparison.md lists. A command may name them even if neither side has
// them. So the same command works for logs with and without times.
bool is_documented(const std::string& fact) {
  static const std::vector<std::string> facts = split(
      "recipe data data.contents options parameters frozen_parameters train_samples valid_samples "
      "global_batch "
      "flops_per_sample flops_per_step init planned_steps job_list steps epochs samples tokens "
      "jobs "
      "jobs_done precision tf32 micro_batch accumulation recomputed_blocks graphs lockstep torch "
      "plugin code seed devices cpu cores driver device_ids host clock_mhz power_limit_w "
      "throttled_by other_processes read_bytes jobs_beside peak_flops stopped "
      "slots",
      ' ');
  return std::find(facts.begin(), facts.end(), fact) != facts.end();
}

void check_names(const std::vector<std::string>& names, const std::set<std::string>& keys,
                 const char* flag) {
  for (const std::string& name : names) {
    if (is_documented(name)) continue;
    if (std::any_of(keys.begin(), keys.end(),
                    [&](const std::string& key) { return names_fact(name, key); }))
      continue;
    const std::vector<std::string> all(keys.begin(), keys.end());
    const std::string near = nearest(name, all);
    throw Error(cat(flag, " names ", printable(name), ", which is no fact of what is compared"),
                near.empty() ? "docs/reference/comparison.md lists the facts; lockstep compare "
                               "--json shows those of these"
                             : cat("did you mean ", near, "?"));
  }
}

int rank_of(const Difference& difference) {
  const bool decides = !difference.blocks.empty() || difference.blocks_totals;
  return difference.varied ? 2
         : decides         ? static_cast<int>(difference.kind) - 10
                           : 5 + static_cast<int>(difference.kind);
}

class Finder {
 public:
  Finder(const TrialGroup& a, const TrialGroup& b, const CompareOptions& options)
      : a_(a), b_(b), options_(options) {
    for (const TrialGroup* group : {&a, &b})
      for (const Trial& trial : group->trials) {
        all_.push_back(&trial);
        for (const auto* known : {&trial.facts, &trial.paths})
          for (const auto& [key, fact] : *known) keys_.insert(key);
      }
    for (const std::string& key : asked_of(a, b)) keys_.insert(key);
  }

  Differences find() {
    check_names(options_.varied, keys_, "--varied");
    check_names(options_.assumed, keys_, "--assume");
    for (const std::string& key : keys_)
      if (!is_told_elsewhere(key)) look_at(key);
    if (any_option_differs()) std::erase(found_.equal, "options");
    std::stable_sort(
        found_.differences.begin(), found_.differences.end(),
        [](const Difference& x, const Difference& y) { return rank_of(x) < rank_of(y); });
    std::stable_sort(found_.unknown.begin(), found_.unknown.end(),
                     [](const UnknownFact& x, const UnknownFact& y) {
                       return x.blocks.empty() < y.blocks.empty();
                     });
    return std::move(found_);
  }

 private:
  // Whether any option differs. If so, "options" is not listed as equal.
  bool any_option_differs() const {
    return std::any_of(
        found_.differences.begin(), found_.differences.end(),
        [](const Difference& one) { return any_names({"options"}, one.key, one.kind); });
  }

  void look_at(const std::string& key) {
    if (has_path(key)) return paths(key);
    const FactKind kind = kind_of(a_, b_, key);
    if (const double tolerance = tolerance_of(key); tolerance > 0) return about(key, tolerance);
    if (stands_for_the_same(key)) return found_.equal.push_back(key);
    const SideValue a = side_value(a_, key), b = side_value(b_, key);
    if (a.value.is_null() || b.value.is_null()) return unknown(key, kind, a, b);
    if (about_equal(a.value, b.value, 0) && (!a.within || kind != FactKind::work)) {
      found_.equal.push_back(key);
      return;
    }
    if (kind == FactKind::note && !key.starts_with("asked.")) return;
    Difference difference{.key = key, .kind = kind, .a = a.value, .b = b.value};
    difference.within = a.within || b.within;
    difference.varied = any_names(options_.varied, key, kind);
    if (!difference.varied) {
      if (kind != FactKind::work || !step_costs_the_same(key, a.value, b.value))
        difference.blocks = blocks_of(key, kind);
      difference.blocks_totals = kind == FactKind::amount;
    }
    difference.text = difference_text(key, a, b);
    found_.differences.push_back(std::move(difference));
  }

  // Whether all trials report the same value in `stood_for`. False if a trial reports none.
  bool stands_for_the_same(const std::string& key) const {
    json first;
    return std::all_of(all_.begin(), all_.end(), [&](const Trial* trial) {
      const auto value = trial->stood_for.find(key);
      if (value == trial->stood_for.end()) return false;
      if (first.is_null()) first = value->second;
      return value->second == first;
    });
  }

  bool has_path(const std::string& key) const {
    return std::any_of(all_.begin(), all_.end(),
                       [&](const Trial* trial) { return trial->paths.contains(key); });
  }

  // Equal paths may hold different contents, and different paths may hold equal contents. A
  // difference of paths is therefore unknown, unless the data has a hash.
  void paths(const std::string& key) {
    std::set<json> values;
    FactKind kind = FactKind::work;
    for (const Trial* const trial : all_) {
      const auto path = trial->paths.find(key);
      values.insert(path == trial->paths.end() ? trial->value(key) : path->second.value);
      if (path != trial->paths.end()) kind = path->second.kind;
    }
    const auto known = [](const Trial* trial) { return !trial->value("data").is_null(); };
    const bool hashed = key.starts_with("data.") && std::all_of(all_.begin(), all_.end(), known);
    if (values.size() > 1 && !hashed) unknown(key, kind, {}, {});
  }

  // Compares the means of both sides.
  void about(const std::string& key, double tolerance) {
    const double a = mean_fact(a_, key), b = mean_fact(b_, key);
    const FactKind kind = kind_of(a_, b_, key);
    const auto known = [](double mean) {
      return SideValue{std::isfinite(mean) ? json(std::round(mean)) : json(), false};
    };
    if (!std::isfinite(a) || !std::isfinite(b)) return unknown(key, kind, known(a), known(b));
    if (about_equal(a, b, tolerance)) {
      found_.equal.push_back(key);
      return;
    }
    Difference difference{.key = key, .kind = kind, .a = known(a).value, .b = known(b).value};
    difference.varied = any_names(options_.varied, key, kind);
    difference.text = difference_text(key, known(a), known(b));
    found_.differences.push_back(std::move(difference));
  }

  void unknown(const std::string& key, FactKind kind, const SideValue& a, const SideValue& b) {
    if (kind == FactKind::note) return;
    UnknownFact fact{
        .key = key, .kind = kind, .in_a = a.value.is_null(), .in_b = b.value.is_null()};
    fact.assumed = any_names(options_.assumed, key, kind);
    if (!fact.assumed && is_needed(key)) fact.blocks = blocks_of(key, kind);
    found_.unknown.push_back(std::move(fact));
  }

  const TrialGroup &a_, &b_;
  std::vector<const Trial*> all_;
  const CompareOptions& options_;
  std::set<std::string> keys_;
  Differences found_;
};

}  // namespace

bool is_of_data(const std::string& fact) {
  return is_identity_of_data(fact) && !is_engine_data(fact);
}

bool is_in_the_way(const Difference& difference, const Quantity& quantity) {
  if (difference.blocks_totals && quantity.total) return true;
  if (quantity.name == "sample_s" && difference.key == "global_batch") return false;
  return std::find(difference.blocks.begin(), difference.blocks.end(), quantity.aspect) !=
         difference.blocks.end();
}

bool names_fact(const std::string& name, const std::string& fact) {
  return fact == name || fact.starts_with(name + ".");
}

double mean_fact(const TrialGroup& group, const std::string& fact) {
  double sum = 0;
  for (const Trial& trial : group.trials) sum += trial.number(fact);
  return group.trials.empty() ? NAN : sum / static_cast<double>(group.trials.size());
}

Differences find_differences(const TrialGroup& a, const TrialGroup& b,
                             const CompareOptions& options) {
  return Finder(a, b, options).find();
}

std::vector<std::string> reasons_against(const Quantity& quantity, const Differences& found,
                                         const std::string& name_a, const std::string& name_b) {
  std::vector<std::string> reasons;
  for (const Difference& difference : found.differences)
    if (is_in_the_way(difference, quantity))
      reasons.push_back(cat(difference.text, difference.within && difference.a == difference.b
                                                 ? ", and so within each side"
                                                 : ""));
  std::vector<std::string> unknown;
  for (const UnknownFact& fact : found.unknown)
    if (std::find(fact.blocks.begin(), fact.blocks.end(), quantity.aspect) != fact.blocks.end())
      unknown.push_back(cat(fact.key, fact.in_a && fact.in_b ? " of both"
                                      : fact.in_a            ? cat(" of ", name_a)
                                                             : cat(" of ", name_b)));
  if (!unknown.empty()) reasons.push_back(cat("not known: ", join(unknown, ", ")));
  return reasons;
}

}  // namespace lockstep
