#include "recipes/fewshot/metrics/detection_charts.h"

#include <algorithm>
#include <vector>

#include "core/base/text/text.h"
#include "core/media/charts/chart_sheet.h"

namespace lockstep::fewshot {
namespace {

constexpr std::size_t iou_50 = 0;

bool has_truth(const DetectionResult& result, std::size_t k) {
  return result.recall_at(iou_50, k) > no_score;
}

XySeries curve(std::string name, double ap50) {
  const auto& recalls = recall_thresholds();
  return {.name = score_text(ap50) + " " + std::move(name),
          .x = {recalls.begin(), recalls.end()},
          .y = std::vector<double>(recall_count)};
}

XySeries class_curve(const DetectionResult& result, std::span<const NamedClass> classes,
                     std::size_t k) {
  const std::int64_t category = result.categories[k];
  XySeries series = curve(class_name(classes, category), summarize(result, {&category, 1}).ap50);
  for (std::size_t r = 0; r < recall_count; ++r) series.y[r] = result.precision_at(iou_50, r, k);
  return series;
}

XySeries mean_curve(const DetectionResult& result, std::span<const std::size_t> places) {
  XySeries series = curve("mean", summarize(result).ap50);
  for (std::size_t r = 0; r < recall_count; ++r) {
    for (const std::size_t k : places) series.y[r] += result.precision_at(iou_50, r, k);
    series.y[r] /= static_cast<double>(std::max<std::size_t>(places.size(), 1));
  }
  return series;
}

XyPanel panel(std::string title, std::vector<XySeries> series) {
  return {
      .frame = {.title = std::move(title),
                .x = {.label = "recall", .low = 0, .high = 1},
                .y = {.label = "precision", .low = 0, .high = 1.02},  // keeps a line at 1 visible
                .width = 760,
                .height = 420},
      .series = std::move(series)};
}

bool is_novel(std::span<const NamedClass> classes, std::int64_t category) {
  return std::any_of(classes.begin(), classes.end(),
                     [&](const NamedClass& one) { return one.category == category && one.novel; });
}

struct ClassGroup {
  std::string name;                 // "base" or "novel"; "" if there is only one group
  std::vector<std::size_t> places;  // indices into the result
};

std::vector<ClassGroup> class_groups_of(const DetectionResult& result,
                                        std::span<const NamedClass> classes) {
  ClassGroup base{"base", {}}, novel{"novel", {}};
  for (std::size_t k = 0; k < result.categories.size(); ++k)
    if (has_truth(result, k))
      (is_novel(classes, result.categories[k]) ? novel : base).places.push_back(k);
  if (novel.places.empty()) return {{"", base.places}};
  return {base, novel};
}

void draw_chart_row(ChartSheet& sheet, const ChartScale& scale, const ClassScores& one,
                    const std::string& name, double y, Colour colour) {
  constexpr double thick = 0.7 * row_px, cap = 5;
  const auto& [low, estimate, high] = one.mean.ap50;
  if (!scale.has(estimate)) {
    sheet.svg().text({scale.place(0) + cap, y + 4}, "no ground truth");
    return;
  }
  sheet.svg().rectangle(
      {scale.place(0), y - thick / 2}, scale.place(estimate) - scale.place(0), thick, hex(colour),
      cat(name, one.novel ? ", novel" : ", base", ": ", score_text(estimate), " (", score_text(low),
          " to ", score_text(high), "), ", one.mean.episodes, " episodes"));
  if (!scale.has(low) || !scale.has(high)) return;
  sheet.svg().line({scale.place(low), y}, {scale.place(high), y}, axis_colour, 1.5);
  for (const double end : {low, high})
    sheet.svg().line({scale.place(end), y - cap}, {scale.place(end), y + cap}, axis_colour, 1.5);
}

}  // namespace

std::string pr_chart(const DetectionResult& result, std::span<const NamedClass> classes) {
  constexpr std::size_t classes_of_panel = palette_size - 1;  // the mean uses one of the colours
  const std::string title = "Precision over recall at IoU 0.5, with AP50";
  const std::vector<ClassGroup> groups = class_groups_of(result, classes);
  std::vector<std::size_t> all;
  for (const ClassGroup& group : groups)
    all.insert(all.end(), group.places.begin(), group.places.end());
  std::vector<XyPanel> panels;
  for (const ClassGroup& group : groups)
    for (std::size_t begin = 0; begin < group.places.size(); begin += classes_of_panel) {
      std::vector<XySeries> series{mean_curve(result, all)};
      const std::size_t end = std::min(begin + classes_of_panel, group.places.size());
      for (std::size_t i = begin; i < end; ++i)
        series.push_back(class_curve(result, classes, group.places[i]));
      panels.push_back(
          panel(title + (group.name.empty() ? "" : ": " + group.name), std::move(series)));
    }
  if (panels.empty()) panels.push_back(panel(title, {}));
  return xy_panels(title, panels);
}

std::string class_chart(const EpisodeScores& scores, std::span<const NamedClass> classes) {
  std::vector<ClassScores> rows = scores.classes;
  std::stable_partition(rows.begin(), rows.end(),
                        [](const ClassScores& row) { return !row.novel; });
  std::vector<std::string> names;
  for (const ClassScores& row : rows) names.push_back(class_name(classes, row.category));
  const std::vector<LegendEntry> legend{look_of(0, "base classes"), look_of(1, "novel classes")};
  ChartSheet sheet(high_enough({.title = "AP50 per class, mean and 95 % interval over episodes",
                                .x = {.label = "AP50", .low = 0, .high = 1},
                                .width = 760},
                               rows.size()),
                   legend, names);
  DataRange range(/*log=*/false);
  for (const ClassScores& row : rows) range.add(row.mean.ap50.estimate);
  const ChartScale scale = sheet.x_scale(range);
  const double each =
      (sheet.bottom() - sheet.top()) / std::max<double>(1, static_cast<double>(rows.size()));
  std::vector<NamedPlace> places;
  for (const std::string& name : names)
    places.push_back({sheet.top() + each * (static_cast<double>(places.size()) + 0.5), name});
  sheet.draw_x(scale);
  sheet.draw_y_names(places);
  sheet.begin_plot();
  for (std::size_t i = 0; i < rows.size(); ++i)
    draw_chart_row(sheet, scale, rows[i], names[i], places[i].at,
                   legend[rows[i].novel ? 1 : 0].colour);
  sheet.end_plot(!range.empty());
  return sheet.text();
}

}  // namespace lockstep::fewshot
