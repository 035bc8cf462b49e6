#include "runtime/run/curves/loss_curve.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/text/cells.h"
#include "core/base/text/plot.h"
#include "core/base/text/text.h"
#include "runtime/run/curves/step_list.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

struct CountedLosses {
  StepList<LossPoint> training, validation;
};

void take_event(const nlohmann::json& event, CountedLosses& losses) {
  const std::string kind = text_or(event, "kind", "");
  const std::int64_t step = integer_or(event, "step", -1);
  if (step < 0) return;
  if (kind == "resume") {
    losses.training.take_back(step);
    losses.validation.take_back(step);
  } else if (kind == "step" && event.contains("loss")) {
    losses.training.add(step, {step, number_or(event, "loss", NAN)});
  } else if (kind == "eval" && event.contains("metrics") && event["metrics"].is_object() &&
             event["metrics"].contains("loss")) {
    losses.validation.add(step, {step, number_or(event["metrics"], "loss", NAN)});
  }
}

std::int64_t last_step(const LossCurve& curve) {
  std::int64_t last = 1;
  for (const auto* points : {&curve.training, &curve.validation})
    for (const LossPoint& point : *points) last = std::max(last, point.step);
  return last;
}

// The column of a step between 1 and `last`. A loss before the first step lies in the column of
// step 1.
std::size_t column_of(std::int64_t step, std::int64_t last, int columns) {
  const double share =
      static_cast<double>(std::max<std::int64_t>(step, 1) - 1) / static_cast<double>(last);
  return static_cast<std::size_t>(std::clamp(static_cast<int>(share * columns), 0, columns - 1));
}

// Losses that fall into one column of the plot.
struct CurveColumn {
  double sum = 0;
  std::int64_t finite = 0, not_finite = 0;
};

std::vector<CurveColumn> columns_of_points(const std::vector<LossPoint>& points, std::int64_t last,
                                           int columns) {
  std::vector<CurveColumn> all(static_cast<std::size_t>(columns));
  for (const LossPoint& point : points) {
    CurveColumn& column = all[column_of(point.step, last, columns)];
    if (std::isfinite(point.loss)) {
      column.sum += point.loss;
      ++column.finite;
    } else {
      ++column.not_finite;
    }
  }
  return all;
}

PlotSeries series_of(const std::vector<CurveColumn>& columns, char mark) {
  PlotSeries series{.mark = mark, .columns = {}};
  for (const CurveColumn& column : columns) {
    const double mean = column.sum / static_cast<double>(std::max<std::int64_t>(column.finite, 1));
    const bool shown = column.finite > 0 && std::isfinite(mean);
    series.columns.push_back(shown ? std::optional(PlotRange{mean, mean}) : std::nullopt);
  }
  return series;
}

std::string loss_label(double loss) {
  const std::string text = general(loss, 4);
  return text.size() <= 9 ? text : general(loss, 2);
}

// The y axis spans the lowest to the highest mark. A single value gets space on both sides.
PlotAxes axes_of(const std::vector<PlotSeries>& all, std::int64_t last) {
  double low = INFINITY, high = -INFINITY;
  for (const PlotSeries& series : all)
    for (const auto& range : series.columns)
      if (range) low = std::min(low, range->low), high = std::max(high, range->high);
  const bool log = is_wide_range(low, high);
  if (low > high) low = high = 0;  // no mark is shown
  if (low == high) {
    const double around = low == 0 ? 1 : std::fabs(low) / 10;
    low -= around;
    high += around;
  }
  return {.name = log ? "loss, log" : "loss",
          .bottom = low,
          .top = high,
          .log = log,
          .label = loss_label,
          .first = "1",
          .last = cat("step ", last)};
}

// Puts as many words into a line as fit.
std::string legend(const std::vector<std::string>& words, int width) {
  const std::string indent = plot_label("") + "  ";
  std::string text, line = indent;
  for (const std::string& word : words) {
    if (line != indent && cells_of(line) + 3 + cells_of(word) > width) {
      text += line + "\n";
      line = indent;
    }
    line += (line == indent ? "" : "   ") + word;
  }
  return text + line + "\n";
}

nlohmann::json points_json(const std::vector<LossPoint>& points) {
  nlohmann::json steps = nlohmann::json::array(), losses = nlohmann::json::array();
  for (const LossPoint& point : points) {
    steps.push_back(point.step);
    losses.push_back(std::isfinite(point.loss) ? nlohmann::json(point.loss) : nlohmann::json());
  }
  return {{"step", std::move(steps)}, {"loss", std::move(losses)}};
}

}  // namespace

bool is_wide_range(double low, double high) {
  constexpr double times = 20;
  return low > 0 && high >= times * low;
}

LossCurve read_loss_curve(const std::filesystem::path& events) {
  CountedLosses losses;
  for_each_line(events, [&](const std::string& line) {
    if (!is_step_line(line)) {
      take_event(parse_object(line), losses);
      return;
    }
    const double number = quick_number(line, "step");
    if (!(number >= 0 && number <= 0x1p53)) return;
    const auto step = static_cast<std::int64_t>(number);
    losses.training.add(step, {step, quick_number(line, "loss")});
  });
  return {.training = losses.training.take(), .validation = losses.validation.take()};
}

std::string plot_losses(const LossCurve& curve, int width) {
  width = std::max(width, 30);
  const int columns = plot_columns(width);
  const std::int64_t last = last_step(curve);
  const auto training = columns_of_points(curve.training, last, columns);
  const auto validation = columns_of_points(curve.validation, last, columns);
  const auto counted = [](const std::vector<CurveColumn>& all, std::int64_t CurveColumn::*count) {
    std::int64_t sum = 0;
    for (const CurveColumn& column : all) sum += column.*count;
    return sum;
  };
  if (counted(training, &CurveColumn::finite) + counted(validation, &CurveColumn::finite) == 0)
    return "";
  std::vector<PlotSeries> all{series_of(training, '*'), series_of(validation, 'o')};
  const PlotAxes axes = axes_of(all, last);
  std::vector<std::string> words;
  if (counted(training, &CurveColumn::finite) > 0) words.emplace_back("* training");
  if (counted(validation, &CurveColumn::finite) > 0) words.emplace_back("o validation");
  if (const std::int64_t bad = counted(training, &CurveColumn::not_finite); bad > 0) {
    PlotSeries marks{.mark = '!', .columns = {}};
    for (const CurveColumn& column : training)
      marks.columns.push_back(column.not_finite > 0 ? std::optional(PlotRange{axes.top, axes.top})
                                                    : std::nullopt);
    all.push_back(std::move(marks));
    words.push_back(cat("! not finite (", bad, ")"));
  }
  return draw_plot(all, axes, width) + legend(words, width);
}

nlohmann::json losses_json(const LossCurve& curve) {
  return {{"training", points_json(curve.training)}, {"validation", points_json(curve.validation)}};
}

}  // namespace lockstep
