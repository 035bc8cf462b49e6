// The format is described in docs/reference/comparison.md.
#include <cmath>

#include "core/base/version.h"
#include "tools/report/comparison/comparison.h"

namespace lockstep {
namespace {

using nlohmann::json;

json finite(double value) { return std::isfinite(value) ? json(value) : json(); }

json finite_list(const std::vector<double>& values) {
  json list = json::array();
  for (const double value : values) list.push_back(finite(value));
  return list;
}

json aspects_json(const std::vector<Aspect>& aspects) {
  json list = json::array();
  for (const Aspect aspect : aspects) list.push_back(to_string(aspect));
  return list;
}

// The value of a fact. If there are very many values, one per job, only their number is reported.
json fact_value(const json& value) {
  constexpr std::size_t most = 200;
  return value.is_object() && value.size() > most ? json{{"values", value.size()}} : value;
}

// A whole number is written as 10 and not as 10.0.
json step_json(double step) {
  return step == std::floor(step) && std::abs(step) <= 0x1p53
             ? json(static_cast<std::int64_t>(step))
             : json(step);
}

json trial_json(const Trial& trial) {
  json facts = json::object(), quantities = json::object(), curve = json::array();
  for (const auto& [key, fact] : trial.facts)
    if (fact.known())
      facts[key] = {{"kind", to_string(fact.kind)}, {"value", fact_value(fact.value)}};
  for (const Quantity& quantity : trial.quantities)
    quantities[quantity.name] = finite(quantity.value);
  for (const CurvePoint& point : trial.curve)
    curve.push_back({step_json(point.step), finite(point.seconds), finite(point.value)});
  return {{"name", trial.name},     {"path", trial.path},
          {"source", trial.source}, {"state", trial.state},
          {"facts", facts},         {"quantities", quantities},
          {"metric", trial.metric}, {"metric_better", to_string(trial.metric_better)},
          {"curve", curve},         {"cautions", trial.cautions}};
}

json group_json(const TrialGroup& group) {
  json trials = json::array();
  for (const Trial& trial : group.trials) trials.push_back(trial_json(trial));
  return {{"name", group.name}, {"trials", trials}};
}

json difference_json(const Difference& difference) {
  return {{"key", difference.key},
          {"kind", to_string(difference.kind)},
          {"a", fact_value(difference.a)},
          {"b", fact_value(difference.b)},
          {"within", difference.within},
          {"varied", difference.varied},
          {"blocks", aspects_json(difference.blocks)},
          {"blocks_totals", difference.blocks_totals},
          {"text", difference.text}};
}

json unknown_json(const UnknownFact& fact) {
  return {{"key", fact.key},         {"kind", to_string(fact.kind)},
          {"in_a", fact.in_a},       {"in_b", fact.in_b},
          {"assumed", fact.assumed}, {"blocks", aspects_json(fact.blocks)}};
}

json row_json(const QuantityRow& row) {
  const Contrast& contrast = row.contrast;
  json bootstrap;
  if (row.bootstrap)
    bootstrap = {{"low", finite(row.bootstrap->low)}, {"high", finite(row.bootstrap->high)}};
  return {{"name", row.what.name},
          {"title", row.what.title},
          {"unit", row.what.unit},
          {"aspect", to_string(row.what.aspect)},
          {"scale", row.what.scale == Scale::ratio ? "ratio" : "difference"},
          {"better", to_string(row.what.better)},
          {"total", row.what.total},
          {"per", row.per},
          {"a", finite_list(row.a)},
          {"b", finite_list(row.b)},
          {"mean_a", finite(contrast.mean_a)},
          {"mean_b", finite(contrast.mean_b)},
          {"estimate", finite(contrast.interval.estimate)},
          {"low", finite(contrast.interval.low)},
          {"high", finite(contrast.interval.high)},
          {"spread", finite(contrast.spread)},
          {"method", contrast.method},
          {"unknown", contrast.unknown},
          {"bootstrap", bootstrap},
          {"conclusion", to_string(row.conclusion)},
          {"text", row.text},
          {"reasons", row.reasons},
          {"repeats_needed", row.repeats_needed ? json(*row.repeats_needed) : json()}};
}

json count_json(const CountRow& row) {
  const auto side = [](const Count& count, const Interval& share) {
    return json{{"hits", count.hits},
                {"all", count.all},
                {"low", finite(share.low)},
                {"high", finite(share.high)}};
  };
  return {{"name", row.name},
          {"a", side(row.a, row.share_a)},
          {"b", side(row.b, row.share_b)},
          {"only_a", row.one_sided ? json(row.one_sided->a) : json()},
          {"only_b", row.one_sided ? json(row.one_sided->b) : json()},
          {"p", finite(row.p)},
          {"test", row.test},
          {"conclusion", to_string(row.conclusion)},
          {"text", row.text}};
}

json outcome_word(JobRow::Outcome outcome) {
  switch (outcome) {
    case JobRow::Outcome::unknown:
      return nullptr;
    case JobRow::Outcome::other:
      return "other";
    case JobRow::Outcome::same_results:
      return "same results";
    case JobRow::Outcome::same_model:
      return "same model";
  }
  return nullptr;
}

json jobs_json(const JobsMatched& jobs) {
  if (!jobs.any) return nullptr;
  json rows = json::array();
  for (const JobRow& row : jobs.rows) {
    json results = json::object();
    for (const auto& [name, values] : row.results)
      results[name] = {finite(values.first), finite(values.second)};
    rows.push_back({{"name", row.name},
                    {"state_a", row.state_a},
                    {"state_b", row.state_b},
                    {"seconds_a", finite(row.seconds_a)},
                    {"seconds_b", finite(row.seconds_b)},
                    {"results", results},
                    {"outcome", outcome_word(row.outcome)}});
  }
  json pairs = json::array();
  for (const JobPairs& pair : jobs.pairs)
    pairs.push_back({{"name", pair.name},
                     {"higher", pair.ranks.more},
                     {"lower", pair.ranks.less},
                     {"same", pair.ranks.same},
                     {"median", finite(pair.median)},
                     {"p", finite(pair.ranks.p)}});
  return {{"matched", jobs.matched}, {"only_a", jobs.only_a}, {"only_b", jobs.only_b},
          {"by", jobs.by},           {"rows", rows},          {"pairs", pairs}};
}

template <class Items, class Make>
json list_json(const Items& items, Make make) {
  json list = json::array();
  for (const auto& item : items) list.push_back(make(item));
  return list;
}

}  // namespace

json comparison_json(const Comparison& comparison) {
  return {
      {"kind", "comparison"},
      {"version", 1},
      {"lockstep", version()},
      {"conclusion", to_string(comparison.conclusion)},
      {"verdict", comparison.verdict},
      {"reasons", comparison.reasons},
      {"could_vary", comparison.could_vary},
      {"by", comparison.by},
      {"margin", comparison.options.margin},
      {"by_margin", comparison.options.by_margin ? json(*comparison.options.by_margin) : json()},
      {"confidence", comparison.options.confidence},
      {"loss", comparison.loss ? finite(*comparison.loss) : json()},
      {"varied", comparison.options.varied},
      {"assumed", comparison.options.assumed},
      {"flags", list_json(comparison.flags,
                          [](const RedFlag& flag) {
                            return json{{"name", flag.name}, {"text", flag.text}};
                          })},
      {"a", group_json(comparison.a)},
      {"b", group_json(comparison.b)},
      {"differences", list_json(comparison.differences, difference_json)},
      {"unknown", list_json(comparison.unknown, unknown_json)},
      {"equal", comparison.equal},
      {"quantities", list_json(comparison.rows, row_json)},
      {"counts", list_json(comparison.counts, count_json)},
      {"jobs", jobs_json(comparison.jobs)}};
}

}  // namespace lockstep
