#include "tools/report/logs/own_exports.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr std::string_view eval_prefix = "eval/";
// a column of evaluations.csv; 1 = the best evaluation so far
constexpr const char* best_name = "best";

std::string tag_part(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

const ForeignSeries* series_named(const std::vector<ForeignSeries>& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ForeignSeries& one) { return one.name == name; });
  return found == all.end() || found->points.empty() ? nullptr : &*found;
}

// Converts times of a run into training time. Time between starts is left out. So is work after the
// step from which a later start resumed.
class OwnClock {
 public:
  OwnClock(const std::vector<ForeignSeries>& all, std::vector<StartMark> starts)
      : starts_(std::move(starts)) {
    std::stable_sort(starts_.begin(), starts_.end(),
                     [](const StartMark& a, const StartMark& b) { return a.time < b.time; });
    for (const StartMark& start : starts_) {
      double before = -INFINITY;  // the last point before this start
      for (const ForeignSeries& series : all) {
        const auto point =
            std::partition_point(series.points.begin(), series.points.end(),
                                 [&](const ForeignPoint& one) { return one.time < start.time; });
        if (point != series.points.begin()) before = std::max(before, std::prev(point)->time);
      }
      before_s_.push_back(at(before));
    }
  }

  bool empty() const { return starts_.empty(); }
  std::size_t count() const { return starts_.size(); }
  const StartMark& last() const { return starts_.back(); }
  std::int64_t steps() const { return last().last_step - starts_.front().step; }
  // The index of the start to which a time belongs. Times before all starts belong to the first
  // one.
  std::size_t start_of(double time) const {
    const auto known = starts_.begin() + static_cast<std::ptrdiff_t>(before_s_.size());
    const auto next =
        std::upper_bound(starts_.begin(), known, time,
                         [](double value, const StartMark& one) { return value < one.time; });
    return next == starts_.begin() ? 0 : static_cast<std::size_t>(next - starts_.begin()) - 1;
  }
  const StartMark& mark(std::size_t start) const { return starts_[start]; }
  double at(double time) const {
    if (before_s_.empty()) return 0;
    const std::size_t start = start_of(time);
    return before_s_[start] + std::max(0.0, time - starts_[start].time);
  }

 private:
  std::vector<StartMark> starts_;
  std::vector<double> before_s_;  // training time before each start
};

// A logged step time, and the number of steps since the previous one.
struct OwnStep {
  double place = 0, steps = 0, step_s = 0;
  bool first = false;  // the first of a start, which includes loading of kernels
  double seconds() const { return steps * step_s; }
};

std::vector<OwnStep> steps_of(const std::vector<ForeignSeries>& all, const OwnClock& clock) {
  std::vector<OwnStep> steps;
  const ForeignSeries* const series = series_named(all, "throughput/step_s");
  if (series == nullptr) return steps;
  double before = 0;
  std::size_t started = SIZE_MAX;
  for (const ForeignPoint& point : series->points) {
    const std::size_t start = clock.empty() ? 0 : clock.start_of(point.time);
    if (!clock.empty()) before = std::max(before, static_cast<double>(clock.mark(start).step));
    const double count = point.place - before;
    if (count > 0 && point.value >= 0 && std::isfinite(point.value))
      steps.push_back({point.place, count, point.value, start != started});
    started = start;
    before = point.place;
  }
  return steps;
}

std::optional<double> mean_step_s(const std::vector<OwnStep>& steps) {
  double seconds[2] = {}, counts[2] = {};  // [0]: all others; [1]: first ones of a start
  for (const OwnStep& step : steps) {
    seconds[step.first ? 1 : 0] += step.seconds();
    counts[step.first ? 1 : 0] += step.steps;
  }
  for (const int kind : {0, 1})
    if (counts[kind] > 0) return seconds[kind] / counts[kind];
  return std::nullopt;
}

// The mean of a share over the time of all steps.
std::optional<double> mean_share(const ForeignSeries* share, const std::vector<OwnStep>& steps) {
  if (share == nullptr) return std::nullopt;
  double sum = 0, all_s = 0;
  auto step = steps.begin();
  for (const ForeignPoint& point : share->points) {
    while (step != steps.end() && step->place < point.place) ++step;
    if (step == steps.end()) break;
    if (step->place != point.place || !(step->seconds() > 0) || !std::isfinite(point.value))
      continue;
    sum += point.value * step->seconds();
    all_s += step->seconds();
  }
  return all_s > 0 ? std::optional(sum / all_s) : std::nullopt;
}

std::optional<double> peak_memory(const std::vector<ForeignSeries>& all) {
  std::optional<double> peak;
  for (const ForeignSeries& series : all)
    if (series.name.starts_with("memory/") && series.name.ends_with("_peak_bytes"))
      for (const ForeignPoint& point : series.points)
        if (point.value > peak.value_or(0)) peak = point.value;
  return peak;
}

bool is_evaluation(const ForeignSeries& series) {
  return series.name.starts_with(eval_prefix) && !series.points.empty();
}

// A metric's value at the newest evaluation that was the best so far. Logs of TensorBoard do not
// mark it. For them, only a loss has a best value, which is the lowest.
std::optional<double> best_value(const ForeignSeries& series, const ForeignSeries* best,
                                 bool lowest_is_best) {
  if (best == nullptr) {
    double lowest = NAN;
    for (const ForeignPoint& point : series.points) lowest = std::fmin(lowest, point.value);
    return lowest_is_best ? std::optional(lowest) : std::nullopt;
  }
  double place = series.points.back().place;
  for (const ForeignPoint& point : best->points)
    if (point.value > 0) place = point.place;
  for (const ForeignPoint& point : series.points)
    if (point.place == place) return point.value;
  return std::nullopt;
}

class OwnLog {
 public:
  OwnLog(const std::vector<ForeignSeries>& all, std::vector<StartMark> starts, LogClock& clock,
         Trial& trial)
      : all_(all),
        starts_(all, std::move(starts)),
        clock_(clock),
        trial_(trial),
        steps_(steps_of(all, starts_)) {}

  void times() {
    trial_.measure({.name = "step_s", .title = "step time", .unit = "s"}, mean_step_s(steps_));
    const double train_s = starts_.empty() ? train_s_of_clock() : train_s_of_starts();
    if (train_s > 0)
      trial_.measure({.name = "train_s", .title = "training time", .unit = "s", .total = true},
                     train_s);
    trial_.measure({.name = "memory_bytes",
                    .title = "memory of the largest rank, peak",
                    .unit = "bytes",
                    .aspect = Aspect::memory},
                   peak_memory(all_));
    share("data_share", "share of waiting for data");
    share("wait_share", "share of waiting for ranks");
  }

  void metrics() {
    const auto count = std::count_if(all_.begin(), all_.end(), is_evaluation);
    for (const ForeignSeries& series : all_)
      if (is_evaluation(series)) metric(series, count == 1);
    const ForeignSeries* const loss = series_named(all_, "train/loss");
    if (count > 0 || loss == nullptr) return;
    trial_.measure({.name = "train_loss",
                    .title = "training loss, last step",
                    .scale = Scale::difference,
                    .aspect = Aspect::quality},
                   loss->points.back().value);
  }

 private:
  double train_s_of_clock() {
    double begin = INFINITY, end = -INFINITY;
    for (const ForeignSeries& series : all_)
      for (const ForeignPoint& point : series.points) {
        const double at = clock_.at(point.time);
        begin = std::fmin(begin, at);
        end = std::fmax(end, at);
      }
    if (!steps_.empty()) begin -= steps_.front().seconds();  // the first step was logged at its end
    begin_ = begin;
    return end - begin;
  }

  double train_s_of_starts() {
    if (starts_.count() > 1)
      trial_.cautions.push_back(cat("it was started ", starts_.count(),
                                    " times: what was done after the checkpoints that it went on "
                                    "from is left out"));
    double end = starts_.last().last_time;
    if (std::isfinite(end))  // the log records its end, so the number of steps is known
      trial_.set("steps", FactKind::amount, starts_.steps());
    for (const ForeignSeries& series : all_) end = std::fmax(end, series.points.back().time);
    return starts_.at(end);
  }

  double trained_at(double time) {
    return starts_.empty() ? clock_.at(time) - begin_ : starts_.at(time);
  }

  void share(const char* name, const char* title) {
    trial_.measure(
        {.name = name, .title = title, .scale = Scale::difference, .aspect = Aspect::use},
        mean_share(series_named(all_, cat("time/", name)), steps_));
  }

  void metric(const ForeignSeries& series, bool alone) {
    const std::string name = series.name.substr(eval_prefix.size());
    const bool loss = name == "loss";
    Quantity quantity{.scale = Scale::difference,
                      .better = loss ? Better::lower : Better::unknown,
                      .aspect = Aspect::quality};
    quantity.name = "best." + name;
    quantity.title = name + ", best evaluation";
    trial_.measure(quantity, best_value(series, series_named(all_, best_name), loss && alone));
    quantity.name = "last." + name;
    quantity.title = name + ", last evaluation";
    trial_.measure(quantity, series.points.back().value);
    if (!loss) return;
    trial_.metric = name;
    trial_.metric_better = Better::lower;
    for (const ForeignPoint& point : series.points)
      trial_.curve.push_back({point.place, trained_at(point.time), point.value});
  }

  const std::vector<ForeignSeries>& all_;
  OwnClock starts_;
  LogClock& clock_;
  Trial& trial_;
  std::vector<OwnStep> steps_;
  double begin_ = 0;
};

}  // namespace

bool is_own_steps(const std::vector<std::string>& columns) {
  const auto has = [&](const char* name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  return columns.size() > 5 && columns[0] == "step" && columns[1] == "epoch" &&
         columns[2] == "time" && columns[3] == "loss" && columns[4] == "lr" && has("step_s");
}

bool is_own_evaluations(const std::vector<std::string>& columns) {
  return columns.size() >= 4 && columns[0] == "step" && columns[1] == "time" &&
         columns[2] == "seconds" && columns[3] == "best";
}

std::string own_name(const std::string& column) {
  const auto behind = [&](std::string_view prefix) { return column.substr(prefix.size()); };
  if (column == "seconds") return "time/evaluation_s";
  if (column == "step_s" || column == "mfu") return "throughput/" + column;
  if (column.ends_with("_share")) return "time/" + column;
  if (column.starts_with("metrics.")) return "eval/" + tag_part(behind("metrics."));
  if (column.starts_with("logged.")) return "train/" + tag_part(behind("logged."));
  if (column.starts_with("terms.")) {
    std::size_t place = 0;
    const std::string digits = behind("terms.");
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), place);
    if (error == std::errc() && *end == '\0') return cat("train/term_", place + 1);
  }
  if (column.starts_with("memory.") && column.ends_with(".peak"))
    return cat("memory/rank", column.substr(7, column.size() - 12), "_peak_bytes");
  if (column == "loss" || column == "lr" || column == "grad_norm" || column == "loss_scale")
    return "train/" + column;
  return column;
}

bool is_own_log(const std::vector<ForeignSeries>& all) {
  return series_named(all, "throughput/step_s") != nullptr ||
         (series_named(all, "time/evaluation_s") != nullptr &&
          std::any_of(all.begin(), all.end(), is_evaluation));
}

void add_own_log(const std::vector<ForeignSeries>& all, std::vector<StartMark> starts,
                 LogClock& clock, Trial& trial) {
  OwnLog own(all, std::move(starts), clock, trial);
  own.times();
  own.metrics();
}

}  // namespace lockstep
