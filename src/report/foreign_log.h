// What logs of other programs have in common, whatever they are stored in: named numbers over steps
// and time become a trial. A reader of one more store makes a ForeignTable (numbers in rows) or a
// ForeignLog (numbers of each name by themselves) of it; all that is guessed is guessed here.
#pragma once

#include "report/facts.h"
#include "report/start_marks.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct ForeignPoint {
  double place = 0;  // the step, or the epoch, which may be a fraction
  double time = 0;   // seconds on any clock; NaN: not known
  double value = 0;  // NaN: that is what the log says, as of a loss that diverged
};

struct ForeignSeries {
  std::string name;                  // "val/loss"
  std::vector<ForeignPoint> points;  // as they were logged: a place that goes back is a resume
};

// Stores that keep the numbers of each name apart: TensorBoard, MLflow.
struct ForeignLog {
  std::vector<ForeignSeries> series;
  std::string counted;  // what places are: "steps" or "epochs"; "": rows that nobody counted
  // Places of an epoch, where the log counts the steps of each epoch from its beginning: then a
  // place is epoch * places_per_epoch + step, and `epochs` is how many there are. 0: it does not.
  double places_per_epoch = 0;
  double epochs = 0;
  // When it was started anew, on the clock of the points: what lies before each is a pause.
  std::vector<double> starts;
  // Places at which it went on from an earlier one, where what that took back is left out already.
  std::optional<std::vector<double>> restarts;
  std::vector<StartMark> own_starts;  // of an export of a run; empty: it does not say
  bool is_clock_told = false;         // why nothing is known of its times, where that is so
  bool is_table = false;              // one column counts for all series
};

// Fills in steps, times, qualities and the curve, and the cautions about them. Leaves out what
// restarts took back, in all series; pauses: starts, and gaps far outside the rest; and of the time
// what was logged after the training. Restarts, step times and the training's end are those of the
// series of the training with the most places. Logs that Lockstep itself exported, known by their
// names, get the names and numbers that the run has.
void add_foreign_log(ForeignLog log, Trial& trial);

struct ForeignColumn {
  std::string name;                 // "": it had none, as pandas' index, and is left out
  std::vector<std::uint32_t> rows;  // those with a value, rising, from 0
  std::vector<double> values;       // of these rows

  void add(std::uint32_t row, double value) {
    rows.push_back(row);
    values.push_back(value);
  }
};

// Stores of rows: CSV files, W&B's history, trackio.
struct ForeignTable {
  std::string name;     // for messages
  std::string refused;  // likewise: why a column has no numbers; "": all that could have some do
  std::uint32_t rows = 0;
  std::vector<ForeignColumn> columns;
};

// Whether a column of that name holds times, so that a text in it is read by seconds_of_text.
bool is_time_column(const std::string& name);

// Which column is the step, the epoch and the time is known by its usual names, those of W&B among
// them (_step, trainer/global_step, _timestamp, _runtime; "RUN - loss" is loss; __MIN and __MAX are
// left out). Throws Error where nothing else is there.
void add_foreign_table(ForeignTable table, Trial& trial);
// The first half of that, for a store whose run has several tables: their series go into one log.
ForeignLog log_of_table(ForeignTable table, Trial& trial);

}  // namespace lockstep
