// Rows of named numbers as a log: which column is the step, the epoch, the time.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "report/foreign_log.h"
#include "report/own_exports.h"

namespace lockstep {
namespace {

using Names = std::vector<std::string>;

// In the order in which they are looked for. W&B's _step counts calls of its log().
const Names& step_names() {
  static const Names names{"step",
                           "global_step",
                           "trainer/global_step",
                           "train/global_step",
                           "steps",
                           "iteration",
                           "iterations",
                           "iter",
                           "iter_num",
                           "it",
                           "batch",
                           "_step"};
  return names;
}
const Names& epoch_names() {
  static const Names names{"epoch", "epochs", "train/epoch", "trainer/epoch"};
  return names;
}
const Names& time_names() {
  static const Names names{"time",
                           "wall_time",
                           "timestamp",
                           "_timestamp",
                           "_runtime",
                           "seconds",
                           "elapsed",
                           "elapsed_s",
                           "elapsed_time",
                           "time_s",
                           "time_elapsed",
                           "datetime",
                           "date",
                           "date_time",
                           "created_at",
                           "relative_time_(process)",
                           "relative_time_(wall)"};
  return names;
}

// "Global Step" as "global_step".
std::string plain_name(const std::string& name) {
  std::string plain;
  for (const char letter : name)
    plain += letter >= 'A' && letter <= 'Z'   ? static_cast<char>(letter - 'A' + 'a')
             : letter == ' ' || letter == '-' ? '_'
                                              : letter;
  return plain;
}

bool is_any(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), plain_name(name)) != names.end();
}

bool is_counter(const std::string& name) {
  return is_any(step_names(), name) || is_any(epoch_names(), name) || is_any(time_names(), name);
}

// The first of the names that a column with values has.
const ForeignColumn* column_named(const ForeignTable& table, const Names& names) {
  for (const std::string& name : names)
    for (const ForeignColumn& column : table.columns)
      if (!column.rows.empty() && plain_name(column.name) == name) return &column;
  return nullptr;
}

// -- names
Names column_names(const ForeignTable& table) {
  Names names;
  for (const ForeignColumn& column : table.columns) names.push_back(column.name);
  return names;
}

// The index that pandas writes, also when it has read it as a column.
bool is_index(const std::string& name) { return name.empty() || name.starts_with("Unnamed: "); }

// Bounds beside the mean of a panel's smoothed values.
bool is_bound(const std::string& name, const std::set<std::string>& all) {
  for (const std::string_view ending : {"__MIN", "__MAX"})
    if (name.ends_with(ending)) return all.contains(name.substr(0, name.size() - ending.size()));
  return false;
}

void drop_what_measures_nothing(ForeignTable& table) {
  const Names names = column_names(table);
  const std::set<std::string> all(names.begin(), names.end());
  std::erase_if(table.columns, [&](const ForeignColumn& column) {
    return is_index(column.name) || is_bound(column.name, all);
  });
}

// W&B's panels name the run in each column: "sunny-moon-12 - loss".
void drop_name_of_run(ForeignTable& table, Trial& trial) {
  constexpr std::string_view mark = " - ";
  std::vector<std::string> runs;
  for (const ForeignColumn& column : table.columns) {
    const std::size_t at = column.name.rfind(mark);
    if (at == std::string::npos || at == 0) {
      if (!is_counter(column.name)) return;
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

// -- places and times of rows
constexpr double most_places = 0x1p53, most_time = 1e19;  // nanoseconds since 1970
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

// A value for each row: what a row leaves out is that of the row before, and before the first one
// that one.
std::vector<double> dense(const ForeignColumn* column, std::size_t rows, double most) {
  std::vector<double> values(column == nullptr ? 0 : rows, not_known);
  if (column == nullptr) return values;
  double last = not_known;
  for (std::size_t i = 0, row = 0; row < rows; ++row) {
    if (i < column->rows.size() && column->rows[i] == row) {
      if (const double value = column->values[i]; std::abs(value) < most) last = value;
      ++i;
    }
    values[row] = last;
  }
  const auto first =
      std::find_if(values.begin(), values.end(), [](double one) { return !std::isnan(one); });
  if (first == values.end()) return {};
  std::fill(values.begin(), first, *first);
  return values;
}

// The usual distance of steps that follow each other: the least one.
double step_distance(const std::vector<double>& steps) {
  double least = INFINITY;
  for (std::size_t row = 1; row < steps.size(); ++row)
    if (steps[row] > steps[row - 1]) least = std::min(least, steps[row] - steps[row - 1]);
  return std::isfinite(least) ? least : 1;
}

// Whether steps count from the beginning of each epoch: they do not rise where the epoch does.
// After a resume both go back.
bool counts_within_epochs(const std::vector<double>& steps, const std::vector<double>& epochs) {
  std::size_t rises = 0, falls = 0, stays = 0;
  for (std::size_t row = 1; row < steps.size() && row < epochs.size(); ++row) {
    if (!(std::floor(epochs[row]) > std::floor(epochs[row - 1]))) continue;
    if (steps[row] > steps[row - 1]) ++rises;
    if (steps[row] < steps[row - 1]) ++falls;
    if (steps[row] == steps[row - 1]) ++stays;
  }
  return falls > rises || (stays > 0 && falls + rises == 0);
}

// Where steps begin anew at least twice, at the same first step and after the same last one, which
// resumes and restarts hardly ever do: rows by pass, from 0. Else empty.
std::vector<double> passes_of(const std::vector<double>& steps) {
  std::vector<double> passes(steps.size(), 0);
  double last = not_known;
  for (std::size_t row = 1; row < steps.size(); ++row) {
    passes[row] = passes[row - 1];
    if (steps[row] >= steps[row - 1]) continue;
    if (steps[row] != steps[0] || (!std::isnan(last) && steps[row - 1] != last)) return {};
    last = steps[row - 1];
    ++passes[row];
  }
  const bool fits = !steps.empty() && passes.back() >= 2 && steps.back() <= last;
  return fits ? passes : std::vector<double>();
}

// Milliseconds, microseconds and nanoseconds since 1970 are larger than any seconds.
double seconds_per_unit(const std::vector<double>& times) {
  double least = INFINITY;
  for (const double time : times)
    if (time < least) least = time;
  if (!std::isfinite(least)) return 1;
  return least > 1e17 ? 1e-9 : least > 1e14 ? 1e-6 : least > 1e11 ? 1e-3 : 1;
}

class TableReading {
 public:
  TableReading(ForeignTable table, Trial& trial) : table_(std::move(table)), trial_(trial) {}

  ForeignLog read() {
    const Names names = column_names(table_);
    own_ = is_own_steps(names) || is_own_evaluations(names);
    if (own_) {
      for (ForeignColumn& column : table_.columns) column.name = own_name(column.name);
    } else {
      drop_what_measures_nothing(table_);
      drop_name_of_run(table_, trial_);
    }
    count();
    clock();
    make_series();
    return std::move(log_);
  }

 private:
  void count() {
    const std::size_t rows = table_.rows;
    places_ = dense(column_named(table_, step_names()), rows, most_places);
    std::vector<double> epochs = dense(column_named(table_, epoch_names()), rows, most_places);
    if (!places_.empty()) {
      log_.counted = "steps";
      if (!epochs.empty() && counts_within_epochs(places_, epochs)) return within(epochs);
      if (!epochs.empty()) return;
      if (const std::vector<double> passes = passes_of(places_); !passes.empty()) {
        within(passes);
        trial_.cautions.push_back(cat("its steps begin anew ", general(passes.back(), 6),
                                      " times after the same one: these are taken for epochs"));
      }
    } else if (!epochs.empty()) {
      log_.counted = "epochs";
      places_ = std::move(epochs);
      count_epochs(places_);
    } else {
      places_.resize(rows);
      for (std::size_t row = 0; row < rows; ++row) places_[row] = static_cast<double>(row + 1);
    }
  }

  // Whole ones from 0 on: the last one is of that many and one.
  void count_epochs(const std::vector<double>& epochs) {
    if (epochs.empty()) return;
    const auto [least, most] = std::minmax_element(epochs.begin(), epochs.end());
    const bool whole = std::all_of(epochs.begin(), epochs.end(),
                                   [](double epoch) { return epoch == std::floor(epoch); });
    log_.epochs = *most + (whole && *least == 0 ? 1 : 0);
  }

  // (epoch, step) is the place.
  void within(const std::vector<double>& epochs) {
    const auto [least, most] = std::minmax_element(places_.begin(), places_.end());
    const double first = *least, distance = step_distance(places_),
                 per_epoch = *most - first + distance;
    log_.counted = "epochs";
    log_.places_per_epoch = per_epoch;
    std::vector<double> whole(epochs.size());
    std::transform(epochs.begin(), epochs.end(), whole.begin(),
                   [](double epoch) { return std::floor(epoch); });
    count_epochs(whole);
    for (std::size_t row = 0; row < places_.size(); ++row)
      places_[row] = whole[row] * per_epoch + places_[row] - first;
  }

  // Seconds since it was started begin anew with each start.
  void clock() {
    times_ = dense(column_named(table_, time_names()), table_.rows, most_time);
    const double unit = seconds_per_unit(times_);
    double before = 0;
    for (std::size_t row = 0; row < times_.size(); ++row) {
      times_[row] = times_[row] * unit + before;
      if (row == 0 || !(times_[row] < times_[row - 1]) || !(places_[row] < places_[row - 1]))
        continue;
      before += times_[row - 1] - times_[row];
      times_[row] = times_[row - 1];
    }
  }

  void make_series() {
    for (ForeignColumn& column : table_.columns) {
      if (column.rows.empty() || (is_counter(column.name))) continue;
      ForeignSeries series{.name = std::move(column.name), .points = {}};
      series.points.reserve(column.rows.size());
      for (std::size_t i = 0; i < column.rows.size(); ++i) {
        const std::uint32_t row = column.rows[i];
        series.points.push_back(
            {places_[row], times_.empty() ? not_known : times_[row], column.values[i]});
      }
      column = {};  // a million rows need not be there twice
      log_.series.push_back(std::move(series));
    }
    if (log_.series.empty())
      throw Error(cat(table_.name, " has no column of numbers beside its steps and times",
                      table_.refused.empty() ? "" : ": ", table_.refused),
                  "a log needs a line of names, and a line for each step or epoch");
  }

  ForeignTable table_;
  Trial& trial_;
  ForeignLog log_;
  std::vector<double> places_, times_;  // of rows; times empty: there are none
  bool own_ = false;
};

}  // namespace

bool is_time_column(const std::string& name) { return is_any(time_names(), name); }

ForeignLog log_of_table(ForeignTable table, Trial& trial) {
  return TableReading(std::move(table), trial).read();
}

void add_foreign_table(ForeignTable table, Trial& trial) {
  add_foreign_log(log_of_table(std::move(table), trial), trial);
}

}  // namespace lockstep
