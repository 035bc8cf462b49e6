// A learning-rate curve for people: in words, and as a plot in plain characters.
#include "plan/curve.h"

#include "base/cells.h"
#include "base/check.h"
#include "base/plot.h"
#include "base/text.h"
#include "plan/train_options.h"
#include "plan/words.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lockstep {
namespace {

constexpr std::int64_t samples_a_column = 64;

std::string steps_text(double steps) { return general(steps, 9); }

std::string restarts_text(const Schedule& schedule, std::int64_t total_steps) {
  std::vector<std::string> restarts;
  double at = schedule.warmup_steps, period = schedule.period_steps;
  while (at + period < static_cast<double>(total_steps)) {
    if (restarts.size() == 4) {
      restarts.push_back("...");
      break;
    }
    at += period;
    period *= schedule.period_mult;
    restarts.push_back(steps_text(at));
  }
  if (restarts.empty()) return "no restart within the run";
  return cat(restarts.size() == 1 ? "restart at step " : "restarts at steps ",
             join(restarts, ", "));
}

std::string after_warmup(const Schedule& schedule, std::int64_t total_steps) {
  const std::string to = cat(" to ", rate_text(schedule.min_lr), " at step ", total_steps);
  switch (schedule.kind) {
    case ScheduleKind::constant:
      return "constant";
    case ScheduleKind::linear:
      return cat("linear", to);
    case ScheduleKind::polynomial:
      return cat("polynomial of power ", general(schedule.power, 4), to);
    case ScheduleKind::cosine:
      return cat("cosine", to);
    case ScheduleKind::step:
      return cat("x ", general(schedule.gamma, 4), " every ", steps_text(schedule.every_steps),
                 " steps",
                 schedule.min_lr > 0 ? cat(", at least ", rate_text(schedule.min_lr)) : "");
    case ScheduleKind::cosine_restarts:
      return cat("cosine to ", rate_text(schedule.min_lr), " over ",
                 steps_text(schedule.period_steps), " steps",
                 schedule.period_mult == 1
                     ? ""
                     : cat(", each period ", general(schedule.period_mult, 4), " times the last"),
                 ", ", restarts_text(schedule, total_steps));
  }
  LOCKSTEP_CHECK(!"a schedule kind without words");
  return {};
}

// Lowest and highest rate of the steps that fall into a column.
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

const char* kind_name(const Schedule& schedule) {
  for (const auto& [kind, name] : EnumNames<ScheduleKind>::value)
    if (kind == schedule.kind) return name;
  LOCKSTEP_CHECK(!"a schedule kind without a name");
  return "";
}

std::string describe_curve(const Schedule& schedule, std::int64_t total_steps) {
  const std::string then = after_warmup(schedule, total_steps);
  if (schedule.warmup_steps <= 0) return cat(rate_text(schedule.base_lr), ", ", then);
  return cat("warm-up over ", steps_text(schedule.warmup_steps), " steps to ",
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
