#include "tools/report/reports/overlay_report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/version.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/progress/progress_text.h"
#include "tools/report/pages/shown.h"
#include "tools/report/reports/run_report.h"

namespace lockstep {
namespace {

constexpr std::size_t most_table_runs = 500, most_option_runs = 12, most_option_rows = 60;
// with at most this many runs, their names fit beside a chart of half the width
constexpr std::size_t few_runs = 6;

double last_loss(const OverlaidRun& run) {
  const Curve* const loss = run.series.step_curve("loss");
  return loss ? loss->smooth_last() : NAN;
}

// Indexes of the runs that are drawn. If there are too many runs, those with the lowest loss are
// chosen.
std::vector<std::size_t> drawn_runs(const std::vector<OverlaidRun>& runs) {
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return runs[i].series.lines == 0; });
  if (order.size() <= most_overlaid) return order;
  const auto key = [&](std::size_t i) {
    const double loss = last_loss(runs[i]);
    return std::isfinite(loss) ? loss : INFINITY;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  order.resize(most_overlaid);
  std::sort(order.begin(), order.end());
  return order;
}

// The names of the runs. A name that occurs twice is shown with its folder.
std::vector<std::string> names_of_runs(const std::vector<OverlaidRun>& runs) {
  std::map<std::string, int> counts;
  for (const OverlaidRun& run : runs) ++counts[run.summary.name];
  std::vector<std::string> names;
  for (const OverlaidRun& run : runs)
    names.push_back(counts[run.summary.name] > 1 ? run.summary.path : run.summary.name);
  return names;
}

class OverlayMaker {
 public:
  OverlayMaker(const std::vector<OverlaidRun>& runs, CurveAxis axis)
      : runs_(runs), axis_(axis), names_(names_of_runs(runs)), drawn_(drawn_runs(runs)) {}

  Page page() const {
    return {.title = cat(runs_.size(), " runs"),
            .subtitle = runs_.size() > 8 ? "" : join(names_, ", "),
            .sections = {overview(), curves(), options()},
            .foot = cat("lockstep report ", version())};
  }

 private:
  PageSection overview() const {
    PageSection section{.title = "Runs", .blocks = {}};
    std::vector<PageNote> notes;
    std::size_t unread = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i)
      if (!runs_[i].problem.empty() && ++unread <= 10)
        notes.push_back({PageTone::warning, cat(names_[i], ": ", runs_[i].problem)});
    if (unread > 10)
      notes.push_back(
          {PageTone::warning, cat("and ", unread - 10, " more runs that could not be read")});
    if (axis_ == CurveAxis::samples)
      for (const std::size_t i : drawn_)
        if (runs_[i].global_batch <= 0)
          notes.push_back(
              {PageTone::warning,
               cat(names_[i], ": how many samples a step has is not known; it has no curve")});
    if (!notes.empty()) section.blocks.emplace_back(std::move(notes));
    PageTable table{
        .columns = {"run", "state", "steps", "loss", "best", "speed", "time", "devices"},
        .rows = {},
        .first_numbers = 8};
    for (std::size_t i = 0; i < std::min(runs_.size(), most_table_runs); ++i)
      table.rows.push_back(row(i));
    if (runs_.size() > most_table_runs)
      table.left_out = cat(runs_.size() - most_table_runs, " more runs are in the report as JSON.");
    section.blocks.emplace_back(std::move(table));
    return section;
  }

  std::vector<std::string> row(std::size_t i) const {
    const OverlaidRun& run = runs_[i];
    const RunSummary& summary = run.summary;
    std::vector<std::string> best;
    if (summary.best.is_object())
      for (const auto& [name, value] : summary.best.items())
        if (value.is_number() && best.size() < 3)
          best.push_back(cat(name, " ", shown_number(value.get<double>())));
    return {
        names_[i],
        to_string(summary.state),
        summary.total_steps > 0 ? cat(summary.step, "/", summary.total_steps) : cat(summary.step),
        summary.loss ? shown_number(*summary.loss) : "",
        best.empty() ? "" : cat(join(best, ", "), " at step ", summary.best_step),
        summary.units_per_s ? cat(shown_count(*summary.units_per_s), " ", summary.unit, "/s",
                                  of_this_start(summary.rates_from, " "))
                            : "",
        run.series.time.total > 0 ? shown_seconds(run.series.time.total) : "",
        summary.devices};
  }

  std::vector<DrawnCurve> all(const std::function<const Curve*(const RunSeries&)>& curve,
                              bool smooth = false) const {
    std::vector<DrawnCurve> curves;
    for (std::size_t place = 0; place < drawn_.size(); ++place) {
      const OverlaidRun& run = runs_[drawn_[place]];
      if (axis_ == CurveAxis::samples && run.global_batch <= 0) continue;
      curves.push_back({.name = names_[drawn_[place]],
                        .curve = curve(run.series),
                        .smooth = smooth && run.series.weight > 0,
                        .samples_per_step = run.global_batch,
                        .look = place});
    }
    return curves;
  }
  static auto of_step(const std::string& name) {
    return [name](const RunSeries& series) { return series.step_curve(name); };
  }

  PageSection curves() const {
    PageSection section{.title = "Curves", .blocks = {}};
    std::vector<PageFigure> figures;
    CurveFrame frame{.title = "training loss", .axis = axis_, .may_be_log = true, .wide = true};
    add_figure(figures, frame, all(of_step("loss"), true));
    std::set<std::string> names;
    for (const std::size_t i : drawn_)
      for (const NamedCurve& metric : runs_[i].series.metrics)
        if (names.size() < 24) names.insert(metric.name);
    for (const std::string& name : names) {
      frame.title = cat(name, " (validation)");
      frame.wide = drawn_.size() > few_runs;
      add_figure(figures, frame,
                 all([&](const RunSeries& series) { return series.metric_curve(name); }));
    }
    frame.title = "learning rate";
    frame.may_be_log = false;
    add_figure(figures, frame, all(of_step("lr")));
    frame.title = "throughput (units of each run per second)";
    frame.low = 0;
    add_figure(figures, frame, all(of_step("units_per_s")));
    const auto empty = static_cast<std::size_t>(std::count_if(
        runs_.begin(), runs_.end(), [](const OverlaidRun& run) { return run.series.lines == 0; }));
    if (runs_.size() - empty > drawn_.size() && !figures.empty())
      section.blocks.emplace_back(
          PageText{cat("Drawn are ", drawn_.size(), " of ", runs_.size() - empty,
                       " runs: those with the lowest smoothed loss at their end.")});
    if (empty > 0 && !figures.empty())
      section.blocks.emplace_back(PageText{
          cat(empty, empty == 1 ? " run has" : " runs have", " logged nothing and no curve.")});
    if (!figures.empty()) section.blocks.emplace_back(std::move(figures));
    return section;
  }

  // Options whose values differ between runs.
  PageSection options() const {
    PageSection section{.title = "Options that differ", .blocks = {}};
    if (runs_.size() > most_option_runs) {
      section.blocks.emplace_back(PageText{
          cat("Of more than ", most_option_runs,
              " runs they are not listed here: lockstep compare RUN RUN … --table does.")});
      return section;
    }
    std::set<std::string> keys;
    for (const OverlaidRun& run : runs_)
      if (run.config.is_object())
        for (const auto& [key, value] : run.config.items()) keys.insert(key);
    PageTable table{.columns = {"option"}, .rows = {}, .first_numbers = runs_.size() + 1};
    table.columns.insert(table.columns.end(), names_.begin(), names_.end());
    for (const std::string& key : keys) {
      std::vector<std::string> cells{key};
      for (const OverlaidRun& run : runs_) {
        const bool has = run.config.is_object() && run.config.contains(key);
        cells.push_back(!has                          ? ""
                        : run.config[key].is_string() ? run.config[key].get<std::string>()
                                                      : to_line(run.config[key]));
      }
      if (std::set<std::string>(cells.begin() + 1, cells.end()).size() > 1 &&
          table.rows.size() < most_option_rows)
        table.rows.push_back(std::move(cells));
    }
    if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
    return section;
  }

  const std::vector<OverlaidRun>& runs_;
  CurveAxis axis_;
  std::vector<std::string> names_;
  std::vector<std::size_t> drawn_;
};

}  // namespace

std::size_t columns_for(std::size_t runs) {
  constexpr std::size_t all = 40'000, least = 16, most = 2048;
  return std::clamp(all / std::max<std::size_t>(runs, 1), least, most);
}

OverlaidRun read_overlaid_run(const RunDir& run, std::optional<double> smooth,
                              std::size_t columns) {
  OverlaidRun overlaid;
  overlaid.summary.name = run.name();
  overlaid.summary.path = run.path().string();
  try {
    overlaid.summary = summarize(run);
    const nlohmann::json record = run.record();
    overlaid.config = record.value("config", nlohmann::json());
    if (record.contains("plan") && record["plan"].is_object() && record["plan"].contains("batch"))
      overlaid.global_batch = number_or(record["plan"]["batch"], "global", 0);
  } catch (const Error& error) {
    overlaid.problem = error.what();
  }
  try {
    RunSeries& series = overlaid.series;
    series = read_run_series(run.events_path(), {.smooth = smooth, .columns = columns});
    series.evals.clear();
    series.checkpoints.clear();
    series.told.clear();
    std::erase_if(series.steps, [](const NamedCurve& one) {
      return one.name != "loss" && one.name != "lr" && one.name != "units_per_s";
    });
  } catch (const Error& error) {
    overlaid.problem = error.what();
  }
  return overlaid;
}

Page overlay_page(const std::vector<OverlaidRun>& runs, CurveAxis axis) {
  return OverlayMaker(runs, axis).page();
}

nlohmann::json overlay_json(const std::vector<OverlaidRun>& runs) {
  nlohmann::json value{{"kind", "runs"}, {"version", 1}, {"lockstep", version()}};
  value["runs"] = nlohmann::json::array();
  for (const OverlaidRun& run : runs) {
    nlohmann::json one{{"run", summary_json(run.summary)},
                       {"problem", run.problem},
                       {"global_batch", run.global_batch},
                       {"smoothing", run.series.weight},
                       {"seconds", run.series.time.total}};
    one["steps"] = one["metrics"] = nlohmann::json::object();
    for (const NamedCurve& curve : run.series.steps)
      one["steps"][curve.name] = curve_json(curve.curve);
    for (const NamedCurve& curve : run.series.metrics)
      one["metrics"][curve.name] = curve_json(curve.curve);
    value["runs"].push_back(std::move(one));
  }
  return nlohmann::json::parse(to_line(value), nullptr, false);
}

}  // namespace lockstep
