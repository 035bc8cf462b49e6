#include "report/foreign_log.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "report/result_facts.h"

namespace lockstep {
namespace {

std::string lower_case(std::string text) {
  for (char& letter : text)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return text;
}

bool is_of_validation(const std::string& name) {
  const std::string lower = lower_case(name);
  return lower.find("val") != lower.npos || lower.find("eval") != lower.npos ||
         lower.find("test") != lower.npos;
}

bool is_loss(const std::string& name) { return lower_case(name).find("loss") != std::string::npos; }

// A validation loss, else any loss.
const ForeignSeries* curve_of(const std::vector<ForeignSeries>& all) {
  const ForeignSeries* found = nullptr;
  for (const ForeignSeries& series : all)
    if (is_loss(series.name) && !series.points.empty() &&
        (found == nullptr || (is_of_validation(series.name) && !is_of_validation(found->name))))
      found = &series;
  return found;
}

void add_qualities(const ForeignSeries& series, Trial& trial) {
  Quantity quantity{.scale = Scale::difference,
                    .better = is_loss(series.name) ? Better::lower : Better::unknown,
                    .aspect = Aspect::quality};
  if (quantity.better == Better::lower) {
    double best = NAN;
    for (const ForeignPoint& point : series.points) best = std::fmin(best, point.value);
    quantity.name = "best." + series.name;
    quantity.title = series.name + ", best";
    trial.measure(quantity, best);
  }
  quantity.name = "last." + series.name;
  quantity.title = series.name + ", last";
  trial.measure(quantity, series.points.back().value);
}

}  // namespace

void add_foreign_log(const std::vector<ForeignSeries>& all, const char* counted, Trial& trial) {
  std::int64_t first = INT64_MAX, last = 0;
  double begin = INFINITY, end = -INFINITY;
  for (const ForeignSeries& series : all)
    for (const ForeignPoint& point : series.points) {
      first = std::min(first, point.step);
      last = std::max(last, point.step);
      begin = std::fmin(begin, point.seconds);
      end = std::fmax(end, point.seconds);
    }
  trial.set(counted, FactKind::amount, last);
  const bool steps = std::string(counted) == "steps";
  if (end > begin) {
    trial.measure(
        {.name = "train_s", .title = "time, first to last line", .unit = "s", .total = true},
        end - begin);
    if (last > first && steps)
      trial.measure({.name = "step_s", .title = "step time", .unit = "s"},
                    (end - begin) / static_cast<double>(last - first));
  } else {
    trial.cautions.push_back("it has no times: nothing is known of its speed");
  }
  for (const ForeignSeries& series : all)
    if (!series.points.empty()) add_qualities(series, trial);
  trial.cautions.push_back(
      "a log of another program: its data, parameters, batch and devices are not known");
  const ForeignSeries* const curve = curve_of(all);
  if (curve == nullptr || !(end > begin)) return;
  trial.metric = is_of_validation(curve->name) ? "loss" : curve->name;
  trial.metric_better = Better::lower;
  for (const ForeignPoint& point : curve->points)
    trial.curve.push_back({point.step, point.seconds, point.value});
}

}  // namespace lockstep
