// Turns named numbers over steps and time from other programs' logs into a trial. The reader of
// each format makes a ForeignTable (numbers in rows) or a ForeignLog (numbers by name). All guesses
// about the meaning of logs are made here.
#pragma once

#include "tools/report/exports/start_marks.h"
#include "tools/report/facts/facts.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct ForeignPoint {
  double place = 0;  // the step, or the epoch, which may be a fraction
  double time = 0;   // seconds on any clock; NaN if unknown
  double value = 0;  // NaN if it was logged as NaN, for instance by a diverged loss
};

struct ForeignSeries {
  std::string name;  // such as "val/loss"
  // points in the order of the log; if `place` goes back, the training resumed there
  std::vector<ForeignPoint> points;
};

// A log that keeps the numbers of each name separately, as TensorBoard and MLflow do.
struct ForeignLog {
  std::vector<ForeignSeries> series;
  // the meaning of places: "steps" or "epochs"; empty for rows without a counter
  std::string counted;
  // Steps per epoch if the log counts steps anew in each epoch; otherwise 0. If it is set, a place
  // is epoch * places_per_epoch + step, and `epochs` is the number of epochs.
  double places_per_epoch = 0;
  double epochs = 0;
  // The times of restarts on the clock of the points. The time before each restart is a pause.
  std::vector<double> starts;
  // The places at which the log resumed after a restart. Set only if the points that restarts
  // discarded are already left out.
  std::optional<std::vector<double>> restarts;
  std::vector<StartMark> own_starts;  // the starts in an export of a run; empty if not recorded
  bool is_clock_told = false;         // whether a caution already says why the times are unknown
  bool is_table = false;              // whether one column of steps applies to all series
};

// Adds the log to `trial`: steps, times, qualities, the curve, and cautions about them. Leaves out
// the points of all series that a later restart discarded. Times exclude pauses, and everything
// that was logged after the training. A pause lies before each entry of `starts`. A gap that is far
// longer than the others is also a pause. Restarts, step times and the training's end come from the
// training series with the most points. Logs that Lockstep exported are recognised by their names.
// Their names and numbers become those that the run itself has.
void add_foreign_log(ForeignLog log, Trial& trial);

struct ForeignColumn {
  std::string name;  // empty if it has none, as pandas' index; such a column is left out
  std::vector<std::uint32_t> rows;  // indexes of the rows that have a value, ascending, from 0
  std::vector<double> values;       // the values in these rows

  void add(std::uint32_t row, double value) {
    rows.push_back(row);
    values.push_back(value);
  }
};

// A log that keeps rows of numbers, as CSV files, W&B's history and trackio do.
struct ForeignTable {
  std::string name;  // name of the log, for messages
  // for messages: why a column has no numbers; empty if there is no such column
  std::string refused;
  std::uint32_t rows = 0;
  std::vector<ForeignColumn> columns;
};

// Whether a column with that name holds times. If so, its texts are read by seconds_of_text().
bool is_time_column(const std::string& name);

// Reads a table as add_foreign_log() reads a log. Finds the columns of step, epoch and time by
// their usual names. W&B's names are known too: _step, trainer/global_step, _timestamp and
// _runtime. A column "RUN - loss" is read as loss, and columns with the endings __MIN and __MAX are
// left out. Throws Error if there is no other column of numbers than step, epoch and time.
void add_foreign_table(ForeignTable table, Trial& trial);
// Makes only the log that add_foreign_log() takes. A run may have several tables, and their series
// can then be merged into one log.
ForeignLog log_of_table(ForeignTable table, Trial& trial);

}  // namespace lockstep
