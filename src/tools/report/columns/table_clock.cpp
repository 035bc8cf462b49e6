#include "tools/report/columns/table_clock.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/text/text.h"
#include "tools/report/columns/table_columns.h"
#include "tools/report/logs/log_times.h"

namespace lockstep {
namespace {

constexpr double most_time = 1e19;  // in nanoseconds since 1970
constexpr double whole_day_s = 86400;

// The unit of the times. Milliseconds, microseconds and nanoseconds since 1970 are larger than any
// time in seconds.
double seconds_per_unit(const std::vector<double>& times) {
  double least = INFINITY;
  for (const double time : times)
    if (time < least) least = time;
  if (!std::isfinite(least)) return 1;
  return least > 1e17 ? 1e-9 : least > 1e14 ? 1e-6 : least > 1e11 ? 1e-3 : 1;
}

std::vector<double> seconds_by_row(const ForeignColumn* column, std::size_t rows) {
  std::vector<double> times = values_by_row(column, rows, most_time);
  if (const double unit = seconds_per_unit(times); unit != 1)
    for (double& time : times) time *= unit;
  return times;
}

// Properties of a column's values.
struct Shape {
  std::size_t count = 0;
  double least = INFINITY, most = -INFINITY, sum = 0;  // sum: without the first value
  // next_gap: the second longest gap, if there are at least three values
  double longest_gap = 0, next_gap = 0;
  bool rises = true, falls = false;  // rises: between all rows; falls: between at least two rows

  void take_gap(double gap) {
    next_gap = std::max(next_gap, std::min(gap, longest_gap));
    longest_gap = std::max(longest_gap, gap);
  }
};

Shape shape_of(const ForeignColumn& column) {
  Shape shape;
  double before = NAN;
  for (const double value : column.values) {
    if (!std::isfinite(value)) continue;
    if (shape.count++ > 0) {
      shape.sum += value;
      shape.take_gap(value - before);
      shape.rises = shape.rises && value > before;
      shape.falls = shape.falls || value < before;
    }
    shape.least = std::min(shape.least, value);
    shape.most = std::max(shape.most, value);
    before = value;
  }
  return shape;
}

// With three or more values, the longest gap is ignored. One long duration after short ones does
// not make a clock.
bool counts_from_the_beginning(const Shape& shape) {
  const bool are_few = shape.count < 3;
  const double gap = are_few ? shape.longest_gap : shape.next_gap,
               most = shape.most - (are_few ? 0 : shape.longest_gap);
  return shape.most >= longest_elapsed_s || shape.least <= 2 * gap || most >= 2 * shape.least;
}

// Whether one column has durations and the other the times at which they end.
bool are_sums(const Shape& durations, const Shape& clock) {
  constexpr double tolerance = 0.25;
  const double span = clock.most - clock.least;
  return durations.count > 1 && span > 0 && std::abs(durations.sum - span) <= tolerance * span;
}

// Whether one column has days and the other the time of day. The moment is then their sum. The
// second column could also be a duration of each row, but that is rarely an hour.
bool are_day_and_time(const std::vector<double>& days, const std::vector<double>& times,
                      const Shape& shape) {
  constexpr double longest_line_s = 3600;
  if (shape.least < longest_line_s && !counts_from_the_beginning(shape)) return false;
  return !days.empty() && !times.empty() && std::all_of(days.begin(), days.end(), [](double day) {
    return std::fmod(day, whole_day_s) == 0;
  }) && std::all_of(times.begin(), times.end(), [](double time) {
    return time >= 0 && time < whole_day_s;
  });
}

TableTimes doubtful_times(const ForeignColumn& column, std::size_t rows) {
  const Shape shape = shape_of(column);
  TableTimes times{.by_row = seconds_by_row(&column, rows), .caution = ""};
  if (shape.count < 2 || counts_from_the_beginning(shape)) return times;
  constexpr std::size_t surely_a_clock = 30;
  const std::string name = cat("its column ", column.name);
  if (shape.rises && shape.count >= surely_a_clock) {
    times.caution = cat(name, " is taken for a clock: it rises in all ", shape.count, " lines");
    return times;
  }
  times.by_row.clear();
  if (shape.falls)
    times.caution = "its times go back, as those of each epoch do: nothing is known of its speed";
  else
    times.caution =
        cat(name, " rises from ", general(shape.least, 6), " to ", general(shape.most, 6),
            ": whether it is a clock, or how long each line took, is not known, and so "
            "nothing of its speed (name it elapsed if it is a clock, else epoch_time)");
  return times;
}

}  // namespace

TableTimes table_times(const ForeignTable& table) {
  const ForeignColumn* const clock = column_named(table, clock_columns());
  const ForeignColumn* const doubtful = column_named(table, time_columns());
  if (clock == nullptr)
    return doubtful == nullptr ? TableTimes{} : doubtful_times(*doubtful, table.rows);
  TableTimes times{.by_row = seconds_by_row(clock, table.rows), .caution = ""};
  if (doubtful == nullptr) return times;
  const Shape known = shape_of(*clock);
  if (are_sums(shape_of(*doubtful), known)) {
    times.durations = doubtful;
    return times;
  }
  const std::vector<double> of_day = seconds_by_row(doubtful, table.rows);
  if (are_day_and_time(times.by_row, of_day, shape_of(*doubtful)))
    for (std::size_t row = 0; row < of_day.size(); ++row) times.by_row[row] += of_day[row];
  else if (known.most == known.least)
    return doubtful_times(*doubtful, table.rows);
  return times;
}

namespace {

// A row at which times go back. Rows that a restart made invalid are left out.
struct FallenRow {
  std::size_t row = 0;
  bool restarts = false;  // a restart lies between this row and the one before
};

class StartJoin {
 public:
  StartJoin(std::vector<double>& times, const std::vector<double>& places,
            const std::vector<double>& epochs, const Restarts& restarts)
      : times_(times), places_(places), epochs_(epochs), restarts_(restarts) {}

  ClockStarts join() {
    if (times_.empty()) return {};
    find_falls();
    const bool anew = begins_anew();
    double before = 0, last = 0;
    auto fall = falls_.begin();
    auto restart = restarts_.all().begin();
    for (std::size_t row = 0; row < times_.size(); ++row) {
      const double raw = times_[row];
      times_[row] += before;
      const bool is_restart =
          restart != restarts_.all().end() && restart->at <= static_cast<double>(row);
      while (restart != restarts_.all().end() && restart->at <= static_cast<double>(row)) ++restart;
      if (fall != falls_.end() && fall->row == row) {
        if (fall->restarts || anew) {
          // If the time counts seconds since a start, they continue after the last time. If it is a
          // date that went back, the last time is kept.
          before = raw < longest_elapsed_s ? last : last - raw;
          times_[row] = raw + before;
          if (!fall->restarts) ++starts_.anew;
          if (!is_restart) starts_.times.push_back(times_[row]);
        }
        ++fall;
      }
      if (is_restart) starts_.times.push_back(times_[row]);
      if (counts(row)) last = times_[row];
    }
    return std::move(starts_);
  }

 private:
  bool counts(std::size_t row) const {
    return restarts_.empty() || restarts_.counts(static_cast<double>(row), places_[row]);
  }

  void find_falls() {
    double last = -INFINITY;
    std::size_t last_row = 0;
    auto restart = restarts_.all().begin();
    for (std::size_t row = 0; row < times_.size(); ++row) {
      if (!counts(row)) continue;
      const double time = times_[row];
      while (restart != restarts_.all().end() && restart->at <= static_cast<double>(last_row))
        ++restart;
      if (time < last)
        falls_.push_back(
            {row, restart != restarts_.all().end() && restart->at <= static_cast<double>(row)});
      else if (std::isfinite(last))
        see_gap(time - last, places_[row] > places_[last_row]);
      last = time;
      last_row = row;
      ++count_;
    }
  }

  void see_gap(double seconds, bool goes_on) {
    longest_gap_ = std::max(longest_gap_, seconds);
    if (!goes_on) return;
    ++steps_;
    if (seconds > 0) ++steps_that_rise_;
  }

  // Whether falls without a restart show a clock in seconds that restarts, but not with each epoch.
  // Durations in whole seconds also fall after a long one, but most of them are equal.
  bool begins_anew() const {
    constexpr std::size_t least_rows = 3;
    if (2 * steps_that_rise_ < steps_) return false;
    std::size_t falls = 0, at_epochs = 0, epochs = 0;
    for (const FallenRow& fall : falls_) {
      if (fall.restarts) continue;
      ++falls;
      if (times_[fall.row] > 2 * longest_gap_) return false;
      if (!epochs_.empty() && epochs_[fall.row] > epochs_[fall.row - 1]) ++at_epochs;
    }
    for (std::size_t row = 1; row < epochs_.size(); ++row)
      if (std::floor(epochs_[row]) > std::floor(epochs_[row - 1])) ++epochs;
    return falls > 0 && least_rows * (falls + 1) <= count_ &&
           (at_epochs == 0 || 2 * at_epochs < epochs);
  }

  std::vector<double>& times_;
  const std::vector<double>& places_;
  const std::vector<double>& epochs_;
  const Restarts& restarts_;
  std::vector<FallenRow> falls_;
  double longest_gap_ = 0;
  // steps to a later place, and those at which the time rises too
  std::size_t steps_ = 0, steps_that_rise_ = 0;
  std::size_t count_ = 0;  // rows that are not invalid
  ClockStarts starts_;
};

}  // namespace

ClockStarts join_starts(std::vector<double>& times, const std::vector<double>& places,
                        const std::vector<double>& epochs, const Restarts& restarts) {
  return StartJoin(times, places, epochs, restarts).join();
}

}  // namespace lockstep
