// Reads rows of named numbers as a log. Finds the columns of the step, the epoch and the time.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/report/columns/series_kinds.h"
#include "tools/report/columns/table_clock.h"
#include "tools/report/columns/table_columns.h"
#include "tools/report/logs/foreign_log.h"
#include "tools/report/logs/log_restarts.h"
#include "tools/report/logs/own_exports.h"

namespace lockstep {
namespace {

// -- names
ColumnNames column_names(const ForeignTable& table) {
  ColumnNames names;
  for (const ForeignColumn& column : table.columns) names.push_back(column.name);
  return names;
}

// The index column that pandas writes. Its name is "Unnamed: …" if pandas has read the file as data
// before.
bool is_index(const std::string& name) { return name.empty() || name.starts_with("Unnamed: "); }

// Whether the column has bounds of a W&B panel's smoothed values. Another column has their mean.
bool is_bound(const std::string& name, const std::set<std::string>& all) {
  for (const std::string_view ending : {"__MIN", "__MAX"})
    if (name.ends_with(ending)) return all.contains(name.substr(0, name.size() - ending.size()));
  return false;
}

void drop_what_measures_nothing(ForeignTable& table) {
  const ColumnNames names = column_names(table);
  const std::set<std::string> all(names.begin(), names.end());
  std::erase_if(table.columns, [&](const ForeignColumn& column) {
    return is_index(column.name) || is_bound(column.name, all);
  });
}

// W&B panels put the run's name in front of each column: "sunny-moon-12 - loss".
void drop_name_of_run(ForeignTable& table, Trial& trial) {
  constexpr std::string_view mark = " - ";
  std::vector<std::string> runs;
  for (const ForeignColumn& column : table.columns) {
    const std::size_t at = column.name.rfind(mark);
    if (at == std::string::npos || at == 0) {
      if (!is_counter_column(column.name)) return;
    } else if (std::string run = column.name.substr(0, at);
               std::find(runs.begin(), runs.end(), run) == runs.end()) {
      if (runs.size() == 20) return;
      runs.push_back(std::move(run));
    }
  }
  if (runs.size() > 1)
    trial.cautions.push_back(cat("its columns are of ", runs.size(), " runs (", runs[0], ", ",
                                 runs[1], runs.size() > 2 ? ", …" : "",
                                 "), which are taken for one: export each by itself"));
  if (runs.size() != 1) return;
  for (ForeignColumn& column : table.columns)
    if (const std::size_t at = column.name.rfind(mark); at != std::string::npos)
      column.name = column.name.substr(at + mark.size());
}

// -- places of rows
constexpr double most_places = 0x1p53;
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

// The smallest distance between successive steps, which is taken as the usual one.
double step_distance(const std::vector<double>& steps) {
  double least = INFINITY;
  for (std::size_t row = 1; row < steps.size(); ++row)
    if (steps[row] > steps[row - 1]) least = std::min(least, steps[row] - steps[row - 1]);
  return std::isfinite(least) ? least : 1;
}

// Whether steps count from the beginning of each epoch. If so, steps do not rise between rows where
// the epoch rises. Rows where the epoch falls are not compared, because both go back after a
// resume.
bool counts_within_epochs(const std::vector<double>& steps, const std::vector<double>& epochs,
                          const std::vector<std::uint32_t>& rows) {
  std::size_t rises = 0, falls = 0, stays = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::uint32_t before = rows[i - 1], row = rows[i];
    if (!(std::floor(epochs[row]) > std::floor(epochs[before]))) continue;
    if (steps[row] > steps[before]) ++rises;
    if (steps[row] < steps[before]) ++falls;
    if (steps[row] == steps[before]) ++stays;
  }
  return falls > rises || (stays > 0 && falls + rises == 0);
}

class TableReading {
 public:
  TableReading(ForeignTable table, Trial& trial) : table_(std::move(table)), trial_(trial) {}

  ForeignLog read() {
    const ColumnNames names = column_names(table_);
    own_ = is_own_steps(names) || is_own_evaluations(names);
    if (own_) {
      for (ForeignColumn& column : table_.columns) column.name = own_name(column.name);
    } else {
      drop_what_measures_nothing(table_);
      drop_name_of_run(table_, trial_);
    }
    count();
    find_times();
    find_table_restarts();
    join_times();
    make_series();
    log_.is_table = true;
    return std::move(log_);
  }

 private:
  void count() {
    const std::size_t rows = table_.rows;
    places_ = values_by_row(column_named(table_, step_columns()), rows, most_places);
    epochs_ = values_by_row(column_named(table_, epoch_columns()), rows, most_places);
    if (!places_.empty()) {
      log_.counted = "steps";
      if (!epochs_.empty()) {
        // Validation may count its own batches in the same column.
        const ForeignColumn* const main = main_column();
        if (main != nullptr && counts_within_epochs(places_, epochs_, main->rows)) within();
        return;
      }
      if (std::vector<double> passes = passes_of(places_); !passes.empty()) {
        trial_.cautions.push_back(cat("its steps begin anew ", general(passes.back(), 6),
                                      " times after the same one: these are taken for epochs"));
        epochs_ = std::move(passes);
        within();
      }
    } else if (!epochs_.empty()) {
      log_.counted = "epochs";
      places_ = epochs_;
    } else {
      places_.resize(rows);
      for (std::size_t row = 0; row < rows; ++row) places_[row] = static_cast<double>(row + 1);
    }
  }

  // Makes one place from the pair (epoch, step).
  void within() {
    const auto [least, most] = std::minmax_element(places_.begin(), places_.end());
    const double first = *least, distance = step_distance(places_),
                 per_epoch = *most - first + distance;
    log_.counted = "epochs";
    log_.places_per_epoch = per_epoch;
    for (double& epoch : epochs_) epoch = std::floor(epoch);
    for (std::size_t row = 0; row < places_.size(); ++row)
      places_[row] = epochs_[row] * per_epoch + places_[row] - first;
  }

  void find_times() {
    if (own_) {  // the time at which the row was logged
      times_ = values_by_row(column_named(table_, {"time"}), table_.rows, INFINITY);
      return;
    }
    TableTimes found = table_times(table_);
    if (found.durations != nullptr) durations_ = found.durations->name;
    if (!found.caution.empty()) trial_.cautions.push_back(found.caution);
    log_.is_clock_told = found.by_row.empty() && !found.caution.empty();
    times_ = std::move(found.by_row);
  }

  bool is_series(const ForeignColumn& column) const {
    return !column.rows.empty() && (!is_counter_column(column.name) || column.name == durations_);
  }

  ForeignSeries series_of(const ForeignColumn& column) const {
    ForeignSeries series{.name = column.name, .points = {}};
    series.points.reserve(column.rows.size());
    for (std::size_t i = 0; i < column.rows.size(); ++i) {
      const std::uint32_t row = column.rows[i];
      if (restarts_.empty() || restarts_.counts(row, places_[row]))
        series.points.push_back(
            {places_[row], times_.empty() ? not_known : times_[row], column.values[i]});
    }
    return series;
  }

  // Chosen like the main series of a log. Null if there is no series.
  const ForeignColumn* main_column() const {
    std::vector<SeriesShape> shapes;
    std::vector<const ForeignColumn*> columns;
    for (const ForeignColumn& column : table_.columns)
      if (is_series(column)) {
        shapes.push_back(shape_of_column(column));
        columns.push_back(&column);
      }
    const std::optional<std::size_t> found = main_series(shapes);
    return found ? columns[*found] : nullptr;
  }

  SeriesShape shape_of_column(const ForeignColumn& column) const {
    const std::vector<std::uint32_t>& rows = column.rows;
    SeriesShape shape{.name = column.name,
                      .points = rows.size(),
                      .first = static_cast<double>(rows.front()),
                      .last = static_cast<double>(rows.back())};
    const bool lines = log_.counted == "epochs";
    for (std::size_t i = 1; i < rows.size(); ++i)
      if (places_[rows[i]] < places_[rows[i - 1]] ||
          (places_[rows[i]] == places_[rows[i - 1]] && !lines))
        ++shape.backs;
    return shape;
  }

  // Restarts are found in the rows of the main column and apply to all columns.
  void find_table_restarts() {
    log_.restarts.emplace();
    const ForeignColumn* const main = main_column();
    if (main == nullptr || own_ || log_.counted.empty()) return;
    if (std::adjacent_find(places_.begin(), places_.end(), std::greater_equal<>()) == places_.end())
      return;
    std::vector<Restart> restarts;
    for (const FoundRestart& found :
         find_restarts(series_of(*main).points, log_.counted == "epochs")) {
      const std::uint32_t row = main->rows[found.first];
      log_.restarts->push_back(places_[row]);
      restarts.push_back({static_cast<double>(first_row_of(main->rows, found.first)), places_[row],
                          found.repeated == found.first
                              ? INFINITY
                              : static_cast<double>(main->rows[found.repeated])});
    }
    restarts_ = Restarts(std::move(restarts));
  }

  // The first row that belongs to the restart. The main column may have its first value some rows
  // later. So the row is found at which a step or time goes back.
  std::uint32_t first_row_of(const std::vector<std::uint32_t>& rows, std::size_t first) const {
    std::uint32_t row = first > 0 ? rows[first - 1] + 1 : rows[first];
    const auto goes_back = [&](std::uint32_t one) {
      return places_[one] < places_[one - 1] || (!times_.empty() && times_[one] < times_[one - 1]);
    };
    while (row < rows[first] && !goes_back(row)) ++row;
    return row;
  }

  void join_times() {
    if (log_.counted == "epochs") count_epochs();
    if (own_ || times_.empty()) return;
    ClockStarts starts = join_starts(times_, places_, epochs_, restarts_);
    log_.starts = std::move(starts.times);
    if (starts.anew > 0)
      trial_.cautions.push_back(
          cat("its times begin anew ", starts.anew, starts.anew == 1 ? " time" : " times",
              " although it went on: what lies between is not known, and is left out"));
  }

  // Counts the epochs. If they are whole numbers that start at 0, the count is the last one plus 1.
  void count_epochs() {
    double most = 0;
    bool whole = true, has_zero = false;
    for (std::size_t row = 0; row < epochs_.size(); ++row) {
      if (!restarts_.empty() && !restarts_.counts(static_cast<double>(row), places_[row])) continue;
      most = std::max(most, epochs_[row]);
      whole = whole && epochs_[row] == std::floor(epochs_[row]);
      has_zero = has_zero || epochs_[row] == 0;
    }
    log_.epochs = most + (whole && has_zero ? 1 : 0);
  }

  void make_series() {
    for (ForeignColumn& column : table_.columns) {
      if (is_series(column)) log_.series.push_back(series_of(column));
      column = {};  // frees the column to save memory
    }
    if (log_.series.empty())
      throw Error(cat(table_.name, " has no column of numbers beside its steps and times",
                      table_.refused.empty() ? "" : ": ", table_.refused),
                  "a log needs a line of names, and a line for each step or epoch");
  }

  ForeignTable table_;
  Trial& trial_;
  ForeignLog log_;
  std::vector<double> places_, epochs_, times_;  // by row; empty if the table lacks them
  std::string durations_;                        // the column with durations instead of a clock
  Restarts restarts_;                            // places are row numbers
  bool own_ = false;
};

}  // namespace

bool is_time_column(const std::string& name) {
  return is_any_column(clock_columns(), name) || is_any_column(time_columns(), name);
}

ForeignLog log_of_table(ForeignTable table, Trial& trial) {
  return TableReading(std::move(table), trial).read();
}

void add_foreign_table(ForeignTable table, Trial& trial) {
  add_foreign_log(log_of_table(std::move(table), trial), trial);
}

}  // namespace lockstep
