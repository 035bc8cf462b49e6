// Shows a learning-rate curve to users, in words and as a plot of plain characters.
#include "planning/schedule/curve.h"

#include "core/base/text/cells.h"
#include "core/base/text/plot.h"
#include "core/base/text/text.h"
#include "planning/words.h"

#include <algorithm>
#include <cmath>

namespace lockstep {
namespace {

constexpr std::int64_t samples_a_column = 64;

// The lowest and highest rate of the steps in one column.
PlotRange column_range(const Schedule& schedule, std::int64_t total_steps, int column,
                       int columns) {
  const auto edge = [&](int at) {
    return static_cast<std::int64_t>(static_cast<double>(total_steps) * at / columns);
  };
  const std::int64_t first = std::min(edge(column), total_steps - 1);
  const std::int64_t last = std::max(first, std::min(edge(column + 1), total_steps) - 1);
  const std::int64_t stride = std::max<std::int64_t>(1, (last - first) / samples_a_column);
  const double start = learning_rate(schedule, first), end = learning_rate(schedule, last);
  PlotRange range{std::min(start, end), std::max(start, end)};
  for (std::int64_t step = first; step < last; step += stride) {
    const double rate = learning_rate(schedule, step);
    range = {std::min(range.low, rate), std::max(range.high, rate)};
  }
  return range;
}

}  // namespace

std::string describe_curve(const Schedule& schedule, std::int64_t total_steps) {
  const std::string then = schedule.kind->words(schedule, total_steps);
  if (schedule.warmup_steps <= 0) return cat(rate_text(schedule.base_lr), ", ", then);
  return cat("warm-up over ", general(schedule.warmup_steps, 9), " steps to ",
             rate_text(schedule.base_lr), ", then ", then);
}

std::string plot_curve(const Schedule& schedule, std::int64_t total_steps, int width) {
  const int columns = plot_columns(width);
  PlotSeries rates;
  double top = 0;
  for (int column = 0; column < columns; ++column) {
    const PlotRange range =
        column_range(schedule, std::max<std::int64_t>(1, total_steps), column, columns);
    rates.columns.push_back(range);
    top = std::max(top, range.high);
  }
  return draw_plot({rates},
                   {.name = "rate",
                    .bottom = 0,
                    .top = top,
                    .label = [](double rate) { return scientific(rate, 1); },
                    .first = "0",
                    .last = cat("step ", total_steps)},
                   width);
}

}  // namespace lockstep
