#include "runtime/run/curves/curves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/media/charts/chart.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/folder/run_history.h"

namespace lockstep {
namespace {

constexpr std::size_t most_rates = 12;

// places: the index of each name that has a curve.
MetricCurve& curve_of(std::vector<MetricCurve>& curves, std::map<std::string, std::size_t>& places,
                      const std::string& name) {
  const auto [place, is_new] = places.emplace(name, curves.size());
  return is_new ? curves.emplace_back(MetricCurve{.name = name, .points = {}})
                : curves[place->second];
}

bool has_unit(const nlohmann::json& eval, const std::string& name) {
  const auto units = eval.find("units");
  return units != eval.end() && units->is_object() && !text_or(*units, name.c_str(), "").empty();
}

bool is_rate(const MetricCurve& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(),
                     [](const LossPoint& point) { return std::isfinite(point.loss); }) &&
         std::all_of(curve.points.begin(), curve.points.end(), [](const LossPoint& point) {
           return !std::isfinite(point.loss) || (point.loss >= 0 && point.loss <= 1);
         });
}

XySeries xy_series_of(const std::string& name, const std::vector<LossPoint>& points) {
  XySeries series{.name = name, .x = {}, .y = {}};
  for (const LossPoint& point : points) {
    series.x.push_back(static_cast<double>(point.step));
    series.y.push_back(point.loss);
  }
  return series;
}

XyPanel loss_panel(const LossCurve& curve) {
  XyPanel panel{.frame = {.title = "loss", .x = {.label = "step"}}, .series = {}};
  if (!curve.training.empty()) panel.series.push_back(xy_series_of("training", curve.training));
  if (!curve.validation.empty())
    panel.series.push_back(xy_series_of("validation", curve.validation));
  double low = INFINITY, high = -INFINITY;
  for (const XySeries& series : panel.series)
    for (const double loss : series.y)
      if (std::isfinite(loss)) low = std::min(low, loss), high = std::max(high, loss);
  panel.frame.y.log = is_wide_range(low, high);
  return panel;
}

}  // namespace

RunCurves read_curves(const std::filesystem::path& events) {
  RunCurves curves{.loss = read_loss_curve(events), .rates = {}};
  std::map<std::string, std::size_t> places;
  for (const nlohmann::json& eval : read_history(events).evals) {
    const auto metrics = eval.find("metrics");
    if (metrics == eval.end() || !metrics->is_object()) continue;
    for (const auto& [name, value] : metrics->items())
      if (name != "loss" && !has_unit(eval, name))
        curve_of(curves.rates, places, name)
            .points.push_back(
                {integer_or(eval, "step", 0), number_or(*metrics, name.c_str(), NAN)});
  }
  std::erase_if(curves.rates, [](const MetricCurve& curve) { return !is_rate(curve); });
  return curves;
}

std::string draw_curves(const std::string& title, const RunCurves& curves) {
  std::vector<XyPanel> panels;
  if (!curves.loss.training.empty() || !curves.loss.validation.empty())
    panels.push_back(loss_panel(curves.loss));
  // All panels have the same first and last step.
  double last = 1;
  for (const auto* points : {&curves.loss.training, &curves.loss.validation})
    for (const LossPoint& point : *points) last = std::max(last, static_cast<double>(point.step));
  for (const MetricCurve& curve : curves.rates)
    for (const LossPoint& point : curve.points)
      last = std::max(last, static_cast<double>(point.step));
  for (std::size_t i = 0; i < std::min(curves.rates.size(), most_rates); ++i)
    panels.push_back({.frame = {.title = curves.rates[i].name + " (validation)",
                                .x = {.label = "step"},
                                .y = {.low = 0, .high = 1},
                                .height = 260},
                      .series = {xy_series_of(curves.rates[i].name, curves.rates[i].points)}});
  for (XyPanel& panel : panels) {
    panel.frame.x.low = 0;
    panel.frame.x.high = last;
  }
  return panels.empty() ? "" : xy_panels(title, panels);
}

std::string try_write_curves(const std::filesystem::path& run_dir,
                             const std::filesystem::path& events) try {
  const std::string svg = draw_curves(run_dir.filename().string(), read_curves(events));
  if (!svg.empty()) write_file_atomic(run_dir / curves_name, svg);
  return "";
} catch (const Error& error) {
  return error.what();
}

}  // namespace lockstep
