#include "tools/report/reports/trial_report.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/text/text.h"
#include "core/base/version.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

constexpr std::size_t most_trial_rows = 300, most_trial_columns = 12, most_trial_curves = 20;

std::vector<std::string> trial_names(const std::vector<Trial>& trials) {
  std::map<std::string, int> counts;
  for (const Trial& trial : trials) ++counts[trial.name];
  std::vector<std::string> names;
  for (const Trial& trial : trials)
    names.push_back(counts[trial.name] > 1 ? trial.path : trial.name);
  return names;
}

// A table with names as rows and trials as columns. If there are too many trials, only the first
// ones are shown.
class TrialRows {
 public:
  TrialRows(const std::vector<Trial>& trials, const char* head)
      : trials_(trials), shown_(std::min(trials.size(), most_trial_columns)) {
    table_.columns = {head};
    const std::vector<std::string> names = trial_names(trials);
    table_.columns.insert(table_.columns.end(), names.begin(),
                          names.begin() + static_cast<std::ptrdiff_t>(shown_));
  }

  // Cell returns the text for a trial, or "".
  template <class Cell>
  void add(const std::string& name, const Cell& cell) {
    if (table_.rows.size() == most_trial_rows) {
      ++left_out_;
      return;
    }
    std::vector<std::string> cells{name};
    for (std::size_t i = 0; i < shown_; ++i) cells.push_back(cell(trials_[i]));
    table_.rows.push_back(std::move(cells));
  }

  void take(PageSection& section) {
    if (table_.rows.empty()) return;
    if (left_out_ > 0) table_.left_out = cat(left_out_, " more are in the report as JSON.");
    section.blocks.emplace_back(std::move(table_));
  }

 private:
  const std::vector<Trial>& trials_;
  std::size_t shown_, left_out_ = 0;
  PageTable table_;
};

PageSection measured(const std::vector<Trial>& trials) {
  PageSection section{.title = "Measured", .blocks = {}};
  TrialRows rows(trials, "quantity");
  std::set<std::string> seen;
  for (const Trial& trial : trials)
    for (const Quantity& quantity : trial.quantities)
      if (seen.insert(quantity.name).second)
        rows.add(quantity.title, [&](const Trial& one) {
          const Quantity* const found = one.find(quantity.name);
          return found == nullptr ? "" : quantity_text(found->value, found->unit);
        });
  rows.take(section);
  return section;
}

PageSection known(const std::vector<Trial>& trials) {
  PageSection section{.title = "Known", .blocks = {}};
  TrialRows rows(trials, "fact");
  std::set<std::string> names;
  for (const Trial& trial : trials)
    for (const auto* facts : {&trial.facts, &trial.paths})
      for (const auto& [name, fact] : *facts)
        if (name != "started") names.insert(name);
  for (const std::string& name : names)
    rows.add(name, [&](const Trial& one) {
      const auto path = one.paths.find(name);
      const nlohmann::json value = path == one.paths.end() ? one.value(name) : path->second.value;
      return value.is_null() ? "" : fact_text(value);
    });
  rows.take(section);
  return section;
}

PageSection trial_curves(const std::vector<Trial>& trials, CurveAxis axis) {
  PageSection section{.title = "Curves", .blocks = {}};
  const std::vector<std::string> names = trial_names(trials);
  std::map<std::string, std::vector<DrawnCurve>> by_metric;
  std::list<Curve> curves;  // the drawings point to these curves
  for (std::size_t i = 0; i < std::min(trials.size(), most_trial_curves); ++i) {
    if (trials[i].curve.empty()) continue;
    Curve& curve = curves.emplace_back();
    for (const CurvePoint& point : trials[i].curve)
      curve.add({.step = static_cast<double>(point.step), .time_s = point.seconds}, point.value);
    by_metric[trials[i].metric].push_back(
        {.name = trials.size() > 1 ? names[i] : "", .curve = &curve, .look = i});
  }
  std::vector<PageFigure> figures;
  for (auto& [metric, drawn] : by_metric)
    add_figure(figures, {.title = metric, .axis = axis, .may_be_log = true, .wide = true},
               std::move(drawn));
  if (trials.size() > most_trial_curves && !figures.empty())
    section.blocks.emplace_back(
        PageText{cat("Drawn are the first ", most_trial_curves, " of ", trials.size(), ".")});
  if (!figures.empty()) section.blocks.emplace_back(std::move(figures));
  return section;
}

PageSection trial_notes(const std::vector<Trial>& trials) {
  PageSection section{.title = trials.size() > 1 ? "Logs" : "Log", .blocks = {}};
  std::vector<PageNote> notes;
  const std::vector<std::string> names = trial_names(trials);
  for (std::size_t i = 0; i < std::min(trials.size(), most_trial_columns); ++i) {
    notes.push_back({PageTone::plain, cat(names[i], ": ", trials[i].source, ", ", trials[i].path)});
    for (const std::string& caution : trials[i].cautions)
      notes.push_back({PageTone::warning, cat(names[i], ": ", caution)});
  }
  if (trials.size() > most_trial_columns)
    notes.push_back({PageTone::plain, cat("and ", trials.size() - most_trial_columns,
                                          " more, which are in the report as JSON")});
  section.blocks.emplace_back(std::move(notes));
  return section;
}

nlohmann::json finite_number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

nlohmann::json log_json(const Trial& trial) {
  nlohmann::json facts = nlohmann::json::object(), quantities = nlohmann::json::object(),
                 curve = nlohmann::json::array();
  for (const auto* known : {&trial.facts, &trial.paths})
    for (const auto& [name, fact] : *known)
      facts[name] = {{"kind", to_string(fact.kind)}, {"value", fact.value}};
  for (const Quantity& quantity : trial.quantities)
    quantities[quantity.name] = {{"value", finite_number(quantity.value)},
                                 {"unit", quantity.unit},
                                 {"better", to_string(quantity.better)}};
  for (const CurvePoint& point : trial.curve)
    curve.push_back({point.step, finite_number(point.seconds), finite_number(point.value)});
  return {{"name", trial.name},     {"path", trial.path}, {"source", trial.source},
          {"state", trial.state},   {"facts", facts},     {"quantities", quantities},
          {"metric", trial.metric}, {"curve", curve},     {"cautions", trial.cautions}};
}

}  // namespace

Page trials_page(const std::vector<Trial>& trials, CurveAxis axis) {
  const std::vector<std::string> names = trial_names(trials);
  return {.title = trials.size() > 1 ? cat(trials.size(), " logs") : trials.front().name,
          .state = trials.size() > 1 ? "" : trials.front().state,
          .subtitle = trials.size() > 1 && trials.size() <= 8 ? join(names, ", ") : "",
          .sections = {trial_notes(trials), measured(trials), trial_curves(trials, axis),
                       known(trials)},
          .foot = cat("lockstep report ", version())};
}

nlohmann::json trials_json(const std::vector<Trial>& trials) {
  nlohmann::json value{{"kind", "logs"}, {"version", 1}, {"lockstep", version()}};
  value["logs"] = nlohmann::json::array();
  for (const Trial& trial : trials) value["logs"].push_back(log_json(trial));
  return nlohmann::json::parse(to_line(value), nullptr, false);
}

}  // namespace lockstep
