#include "tools/report/logs/foreign_log.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "core/base/text/text.h"
#include "tools/report/columns/series_kinds.h"
#include "tools/report/columns/table_columns.h"
#include "tools/report/logs/log_clock.h"
#include "tools/report/logs/log_restarts.h"
#include "tools/report/logs/log_times.h"
#include "tools/report/logs/own_exports.h"

namespace lockstep {
namespace {

// Whether all points have the same step, because the events were logged without one.
bool is_uncounted(const ForeignSeries& series) {
  const auto& points = series.points;
  return points.size() > 1 && std::all_of(points.begin(), points.end(), [&](const auto& point) {
           return point.place == points.front().place;
         });
}

void count_points(ForeignSeries& series) {
  double place = 0;
  for (ForeignPoint& point : series.points) point.place = ++place;
}

// Removes points that a later point makes invalid. A program writes such points if it resumes from
// an earlier place. repeats: a place may have several points, for example several lines of an
// epoch.
void take_back(ForeignSeries& series, bool repeats) {
  std::vector<ForeignPoint>& points = series.points;
  const auto takes_back = [&](const ForeignPoint& before, const ForeignPoint& point) {
    return before.place > point.place || (before.place == point.place && !repeats);
  };
  const auto first = std::adjacent_find(points.begin(), points.end(), takes_back);
  if (first == points.end()) return;
  auto kept = static_cast<std::size_t>(first - points.begin()) + 1;
  for (std::size_t i = kept; i < points.size(); ++i) {
    while (kept > 0 && takes_back(points[kept - 1], points[i])) --kept;
    points[kept++] = points[i];
  }
  points.resize(kept);
}

bool goes_back(const ForeignSeries& series) {
  return std::adjacent_find(series.points.begin(), series.points.end(),
                            [](const ForeignPoint& a, const ForeignPoint& b) {
                              return b.time < a.time;
                            }) != series.points.end();
}

// lines: a place may have several points, for example several lines of an epoch.
SeriesShape shape_of_series(const ForeignSeries& series, bool lines) {
  const std::vector<ForeignPoint>& points = series.points;
  SeriesShape shape{.name = series.name,
                    .points = points.size(),
                    .first = points.front().time,
                    .last = points.back().time};
  for (std::size_t i = 1; i < points.size(); ++i)
    if (points[i].place < points[i - 1].place || (points[i].place == points[i - 1].place && !lines))
      ++shape.backs;
  return shape;
}

// Chooses a series to show: the validation loss, or else another loss of validation, or else any
// loss.
const ForeignSeries* curve_of(const std::vector<ForeignSeries>& all) {
  const auto rank = [](const std::string& name) {
    return is_validation_loss(name) ? 2 : is_of_validation(name) ? 1 : 0;
  };
  const ForeignSeries* found = nullptr;
  for (const ForeignSeries& series : all)
    if (is_loss(series.name) && !series.points.empty() &&
        (found == nullptr || rank(series.name) > rank(found->name)))
      found = &series;
  return found;
}

void add_qualities(const ForeignSeries& series, Trial& trial) {
  Quantity quantity{.scale = Scale::difference,
                    .better = is_loss(series.name) ? Better::lower : Better::unknown,
                    .aspect = Aspect::quality};
  if (quantity.better == Better::lower) {
    double best = NAN;
    for (const ForeignPoint& point : series.points)
      if (point.value < best || std::isnan(best)) best = point.value;
    quantity.name = "best." + series.name;
    quantity.title = series.name + ", best";
    trial.measure(quantity, best);
  }
  quantity.name = "last." + series.name;
  quantity.title = series.name + ", last";
  trial.measure(quantity, series.points.back().value);
}

nlohmann::json amount_of(double count) {
  return count == std::floor(count) && std::abs(count) <= 0x1p53
             ? nlohmann::json(static_cast<std::int64_t>(count))
             : nlohmann::json(count);
}

// If the time is NaN, it stays NaN.
double earlier(double time, double end) { return time > end ? end : time; }

class LogReading {
 public:
  LogReading(ForeignLog log, Trial& trial) : log_(std::move(log)), trial_(trial) {}

  void read() {
    count_what_has_no_steps();
    std::erase_if(log_.series, [](const ForeignSeries& series) { return series.points.empty(); });
    keep_what_counts();
    back_ = std::any_of(log_.series.begin(), log_.series.end(), goes_back);
    own_ = !back_ && is_own_log(log_.series);
    if (!back_ && !own_) find_end();
    amounts();
    times();
    for (const ForeignSeries& series : log_.series)
      if (!own_ || is_told_by_own(series)) add_qualities(series, trial_);
    trial_.cautions.push_back(own_ ? "an export of a run: its data, options, batch and devices are "
                                     "known of the run itself alone"
                                   : "a log of another program: its data, parameters, batch and "
                                     "devices are not known");
    curve();
  }

 private:
  // Whether a series of an exported run gives a quality. Only training series do, except
  // train/epoch.
  static bool is_told_by_own(const ForeignSeries& series) {
    return series.name.starts_with("train/") && series.name != "train/epoch";
  }

  const char* word() const {
    return log_.places_per_epoch > 0  ? ""
           : log_.counted == "epochs" ? "epoch"
           : log_.counted == "steps"  ? "step"
                                      : "row";
  }

  void count_what_has_no_steps() {
    if (log_.counted != "steps") return;
    std::vector<std::string> names;
    bool counted = false;
    for (ForeignSeries& series : log_.series) {
      if (!is_uncounted(series)) {
        counted = counted || series.points.size() > 1;
        continue;
      }
      count_points(series);
      names.push_back(series.name);
    }
    if (names.empty()) return;
    if (counted) uncounted_.insert(names.begin(), names.end());
    trial_.cautions.push_back(
        cat("all values of ", some_of(std::move(names)),
            " were logged for the same step: they are counted in their order"));
    if (!counted) log_.counted.clear();
  }

  void find_main() {
    std::vector<SeriesShape> shapes;
    std::vector<ForeignSeries*> counted;
    for (ForeignSeries& series : log_.series)
      if (!uncounted_.contains(series.name)) {
        shapes.push_back(shape_of_series(series, log_.counted == "epochs"));
        counted.push_back(&series);
      }
    const std::optional<std::size_t> found = main_series(shapes);
    main_ = found ? counted[*found] : nullptr;
  }

  void keep_what_counts() {
    find_main();
    const bool lines = log_.counted == "epochs";
    if (!log_.restarts && main_ != nullptr && !goes_back(*main_) && (lines || !counts_anew()))
      leave_out_restarts(lines);
    for (ForeignSeries& series : log_.series) take_back(series, lines);
    std::erase_if(log_.series, [](const ForeignSeries& series) { return series.points.empty(); });
    find_main();
    std::erase_if(log_.starts, [](double start) { return std::isnan(start); });
    std::sort(log_.starts.begin(), log_.starts.end());
    if (log_.restarts && !log_.restarts->empty()) tell_restarts(*log_.restarts);
  }

  // Whether the main series restarts its step count in each epoch. A program does this if it logs
  // the batch number as the step. Other series may count epochs, so none of their points is
  // removed.
  bool counts_anew() {
    std::vector<double> steps;
    for (const ForeignPoint& point : main_->points) steps.push_back(point.place);
    const std::vector<double> passes = passes_of(steps);
    if (passes.empty()) return false;
    log_.epochs = passes.back() + 1;
    trial_.cautions.push_back(cat("the steps of ", main_->name, " begin anew ",
                                  general(passes.back(), 6),
                                  " times after the same one: these are taken for epochs, and of "
                                  "such series only the last epoch is kept"));
    return true;
  }

  // Removes points that restarts of the main series make invalid, in all series. Series that are
  // stored separately share one clock.
  void leave_out_restarts(bool lines) {
    log_.restarts.emplace();
    std::vector<Restart> found;
    for (const FoundRestart& one : find_restarts(main_->points, lines)) {
      const ForeignPoint& first = main_->points[one.first];
      if (std::isnan(first.time)) continue;
      log_.starts.push_back(first.time);
      log_.restarts->push_back(first.place);
      const double from = main_->points[one.repeated].time;
      found.push_back({first.time, first.place, one.repeated == one.first ? INFINITY : from});
    }
    const Restarts restarts(std::move(found));
    if (restarts.empty()) return;
    for (ForeignSeries& series : log_.series)
      if (!uncounted_.contains(series.name))
        std::erase_if(series.points, [&](const ForeignPoint& point) {
          return !restarts.counts(point.time, point.place);
        });
  }

  void tell_restarts(const std::vector<double>& places) {
    const double last = places.back();
    const std::string place =
        log_.places_per_epoch > 0
            ? cat("epoch ", general(std::floor(last / log_.places_per_epoch), 15))
            : cat(word(), " ", general(last, 15));
    const std::size_t count = places.size();
    trial_.cautions.push_back(cat("it was started anew ",
                                  count > 1 ? cat(count, " times, the last time ") : "", "at ",
                                  place, ": what it had logged from there on before is left out"));
  }

  // Finds the training's end on the log's clock. This is the last point of all series that began
  // before the end of the main series. Points after a new start, or much later than the main
  // series, are ignored.
  void find_end() {
    if (main_ == nullptr) return;
    double longest = 0, before = NAN, end = NAN;
    for (const ForeignPoint& point : main_->points) {
      if (std::isnan(point.time)) continue;
      longest = std::fmax(longest, point.time - before);
      before = end = point.time;
    }
    if (std::isnan(end)) return;
    const auto start = std::upper_bound(log_.starts.begin(), log_.starts.end(), end);
    double bound = start == log_.starts.end() ? INFINITY : *start;
    constexpr std::size_t least_points = 6;
    constexpr double far = 10;
    if (main_->points.size() >= least_points) bound = std::min(bound, end + far * longest);
    // A program may log the loss of a whole epoch, or of the whole training, after the last logged
    // step. A higher place shows that such a point belongs to the training.
    const double soon = std::min(bound, end + far * longest);
    for (const ForeignSeries& series : log_.series)
      if (const ForeignPoint& first = series.points.front();
          first.time > end && first.time < soon && first.place > main_->points.back().place &&
          !uncounted_.contains(series.name) && !is_of_validation(series.name) &&
          !is_counter_column(series.name))
        end = first.time;
    end_ = end;
    std::vector<std::string> later;
    for (const ForeignSeries& series : log_.series) {
      if (series.points.front().time > end) {
        later_.insert(series.name);
        later.push_back(series.name);
        continue;
      }
      if (series.points.back().time >= bound) later.push_back(series.name);
      for (auto point = series.points.rbegin(); point != series.points.rend(); ++point)
        if (point->time < bound) {
          end_ = std::max(end_, point->time);
          break;
        }
    }
    if (!later.empty())
      trial_.cautions.push_back(cat(some_of(later), later.size() == 1 ? " was" : " were",
                                    " logged after the training's last ",
                                    *word() == '\0' ? "point" : word(),
                                    ": that time is none of the training's"));
  }

  static std::string some_of(std::vector<std::string> names) {
    constexpr std::size_t shown = 3;
    const std::size_t more = names.size() > shown ? names.size() - shown : 0;
    names.resize(names.size() - more);
    return cat(join(names, ", "), more > 0 ? cat(" and ", more, " more") : "");
  }

  void amounts() {
    if (log_.counted.empty()) {
      trial_.cautions.push_back("it counts no steps or epochs: how much was done is not known");
      return;
    }
    double last = 0;
    std::vector<std::string> others;
    for (const ForeignSeries& series : log_.series) {
      if (uncounted_.contains(series.name) || later_.contains(series.name) ||
          counts_own_batches(series))
        continue;
      if (has_other_counter(series))
        others.push_back(series.name);
      else
        last = std::max(last, last_place(series));
    }
    if (!others.empty()) tell_other_counters(std::move(others));
    if (log_.epochs > 0)
      trial_.set("epochs", FactKind::amount, amount_of(log_.epochs));
    else
      trial_.set(log_.counted, FactKind::amount, amount_of(last));
  }

  // Whether a validation series counts its own batches from 0. With more points than the main
  // series, it would go beyond the training's steps.
  bool counts_own_batches(const ForeignSeries& series) const {
    return main_ != nullptr && is_of_validation(series.name) && !is_of_validation(main_->name) &&
           series.points.size() > main_->points.size();
  }

  // For series stored separately: whether the series counts something else, such as samples. If so,
  // it ends beyond the main series by more than the longest gap of the main series.
  bool has_other_counter(const ForeignSeries& series) const {
    if (main_ == nullptr || log_.is_table || log_.epochs > 0 || &series == main_) return false;
    const std::vector<ForeignPoint>& points = main_->points;
    double longest = 0;
    for (std::size_t i = 1; i < points.size(); ++i)
      longest = std::max(longest, points[i].place - points[i - 1].place);
    return points.size() > 1 && last_place(series) > points.back().place + longest;
  }

  void tell_other_counters(std::vector<std::string> names) {
    const bool one = names.size() == 1;
    trial_.cautions.push_back(cat(some_of(std::move(names)), one ? " counts" : " count",
                                  " otherwise, further than ", main_->name, ": the ", log_.counted,
                                  " are those of ", main_->name));
  }

  // The last place that was logged before the training's end.
  double last_place(const ForeignSeries& series) const {
    for (auto point = series.points.rbegin(); point != series.points.rend(); ++point)
      if (!(point->time > end_)) return point->place;
    return 0;
  }

  // Explains why times go back. Times since 1970 never restart, unlike times since a start.
  std::string why_times_go_back() const {
    for (const ForeignSeries& series : log_.series)
      for (std::size_t i = 1; i < series.points.size(); ++i) {
        const ForeignPoint &before = series.points[i - 1], &point = series.points[i];
        if (!(point.time < before.time)) continue;
        if (before.time < longest_elapsed_s) return "as those of each epoch do";
        const std::string where =
            *word() == '\0' ? "" : cat(" at ", word(), " ", general(point.place, 15));
        return cat("by ", quantity_text(before.time - point.time, "s"), where,
                   ", as where a clock was set or several programs wrote the log");
      }
    return "";
  }

  void times() {
    if (back_) {
      trial_.cautions.push_back(
          cat("its times go back, ", why_times_go_back(), ": nothing is known of its speed"));
      return;
    }
    LogClock clock(*main_, log_.starts, log_.places_per_epoch);
    if (own_ && !log_.own_starts.empty())
      return add_own_log(log_.series, log_.own_starts, clock, trial_);
    double begin = INFINITY, end = -INFINITY;
    for (const ForeignSeries& series : log_.series)
      for (const ForeignPoint& point : {series.points.front(), series.points.back()}) {
        const double at = clock.at(earlier(point.time, end_));
        begin = std::fmin(begin, at);
        end = std::fmax(end, at);
      }
    if (!(end > begin) && !(own_ && !clock.empty())) {
      if (!log_.is_clock_told)
        trial_.cautions.push_back("it has no times: nothing is known of its speed");
      return;
    }
    if (const std::string pauses = clock.pauses_text(word()); !pauses.empty())
      trial_.cautions.push_back(pauses);
    clock_.emplace(std::move(clock));
    begin_ = begin;
    if (own_) return add_own_log(log_.series, {}, *clock_, trial_);
    trial_.measure(
        {.name = "train_s", .title = "time, first to last line", .unit = "s", .total = true},
        end - begin);
    if (log_.counted == "steps" || log_.places_per_epoch > 0)
      trial_.measure({.name = "step_s", .title = "step time", .unit = "s"}, clock_->place_s());
  }

  void curve() {
    const ForeignSeries* const curve = own_ ? nullptr : curve_of(log_.series);
    if (curve == nullptr || !clock_) return;
    trial_.metric = is_validation_loss(curve->name) ? "loss" : curve->name;
    trial_.metric_better = Better::lower;
    trial_.curve.reserve(curve->points.size());
    for (const ForeignPoint& point : curve->points)
      trial_.curve.push_back(
          {point.place, clock_->at(earlier(point.time, end_)) - begin_, point.value});
  }

  ForeignLog log_;
  Trial& trial_;
  bool back_ = false, own_ = false;  // back_: times go back; own_: an export of a Lockstep run
  std::set<std::string> uncounted_;  // series without steps if other series have steps
  std::set<std::string> later_;      // series that begin after the training's end
  double end_ = INFINITY;            // end of the training on the log's clock
  const ForeignSeries* main_ = nullptr;
  std::optional<LogClock> clock_;  // set if the log has times
  double begin_ = 0;
};

}  // namespace

void add_foreign_log(ForeignLog log, Trial& trial) { LogReading(std::move(log), trial).read(); }

}  // namespace lockstep
