// Common parts of reading other programs' logs: turns named numbers over steps and time into a
// trial. A reader of a store makes a ForeignTable (numbers in rows) or a ForeignLog (numbers by
// name). All guesses about logs are made here.
#pragma once

#include "tools/report/exports/start_marks.h"
#include "tools/report/facts/facts.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct ForeignPoint {
  double place = 0;  // the step, or the epoch, possibly a fraction
  double time = 0;   // seconds on any clock; NaN: unknown
  double value = 0;  // NaN: logged as such, for instance by a diverged loss
};

struct ForeignSeries {
  std::string name;                  // "val/loss"
  std::vector<ForeignPoint> points;  // as logged: a place that goes back is a resume
};

// For stores that keep the numbers of each name separately: TensorBoard, MLflow.
struct ForeignLog {
  std::vector<ForeignSeries> series;
  std::string counted;  // meaning of places: "steps" or "epochs"; "": rows without a counter
  // Steps per epoch, if the log counts steps anew in each epoch; otherwise 0. A place is then epoch
  // * places_per_epoch + step, and `epochs` is the number of epochs.
  double places_per_epoch = 0;
  double epochs = 0;
  // Times of its restarts, on the clock of the points. The time before each restart is a pause.
  std::vector<double> starts;
  // Places at which the log resumed from an earlier place. Set only if the points that this took
  // back are already left out.
  std::optional<std::vector<double>> restarts;
  std::vector<StartMark> own_starts;  // of an export of a run; empty: not recorded
  bool is_clock_told = false;         // a caution already says why the times are unknown
  bool is_table = false;              // one column of steps counts for all series
};

// Sets steps, times, qualities, the curve and the cautions about them. Leaves out points that
// restarts took back, in all series. Times exclude pauses (starts, and gaps far outside the rest)
// and everything logged after the training. Restarts, step times and the training's end come from
// the training series with the most places. Logs that Lockstep exported are recognised by their
// names, and get the run's own names and numbers.
void add_foreign_log(ForeignLog log, Trial& trial);

struct ForeignColumn {
  std::string name;                 // "": it had none, as pandas' index; such a column is left out
  std::vector<std::uint32_t> rows;  // rows that have a value, rising, from 0
  std::vector<double> values;       // values in these rows

  void add(std::uint32_t row, double value) {
    rows.push_back(row);
    values.push_back(value);
  }
};

// For stores of rows: CSV files, W&B's history, trackio.
struct ForeignTable {
  std::string name;     // for messages
  std::string refused;  // for messages: why a column has no numbers; "" if all possible ones have
                        // some
  std::uint32_t rows = 0;
  std::vector<ForeignColumn> columns;
};

// Whether a column of that name holds times, so that its texts are read by seconds_of_text.
bool is_time_column(const std::string& name);

// Finds the columns of step, epoch and time by their usual names. These include W&B's: _step,
// trainer/global_step, _timestamp, _runtime; "RUN - loss" is loss; __MIN and __MAX are left out.
// Throws Error if there are no other columns.
void add_foreign_table(ForeignTable table, Trial& trial);
// Only makes the log, which add_foreign_log then reads. For a store whose runs have several tables,
// so that their series can be merged into one log.
ForeignLog log_of_table(ForeignTable table, Trial& trial);

}  // namespace lockstep
