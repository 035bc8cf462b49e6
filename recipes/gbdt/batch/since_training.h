// Reports to users of a model how its file of prices has changed since training.
#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "recipes/gbdt/batch/records.h"
#include "recipes/gbdt/train/train_window.h"

namespace lockstep::gbdt {

// For each window, compares present prices and predictions with those that its folder has kept
// since training. These are the closes of labels.csv.gz, the predictions of predictions.csv, and
// the first bar in metadata.json. Windows are skipped if their file is unchanged (by its hash) or
// generated, or if they are used on another symbol. They are also skipped if they have no computed
// features, no time, or groups.
class SinceTraining {
 public:
  // Compares one window. rows: the rows of `data` that are used now. scores: [rows, outputs]. If a
  // file of the window does not exist or cannot be read, nothing is compared with it.
  void add(const WindowRecord& record, const GbdtOptions& options, const SymbolData& data,
           std::span<const std::size_t> rows, std::span<const double> scores);

  // Returns the notes, one sentence each and without a line break.
  std::vector<std::string> notes() const;

 private:
  struct Closes {
    // numbers of bars: with a close in training; of these, in the file; of these, changed
    std::size_t trained = 0, found = 0, changed = 0;
    // for changed closes: smallest and largest ratio of the present close to the earlier one
    double low = 0, high = 0;
    std::vector<char> seen{};  // by row of the data: 1 found, 2 changed
  };

  // How far features of the set v1 differ if the file begins later.
  struct Drift {
    double vwap = 0, ema = 0;  // as shares of the feature
    double obv = 0;            // in units of volume
  };

  void index(const SymbolData& data);
  void measure_drift(const SymbolData& data, std::span<const std::size_t> rows);
  void compare_closes(const WindowRecord& record, const SymbolData& data);
  void compare_predictions(const WindowRecord& record, const Objective& objective,
                           std::span<const std::size_t> rows, std::span<const double> scores);
  std::vector<std::string> close_notes() const;
  std::string prediction_note() const;
  std::string begin_note() const;
  std::string drift_text() const;  // text for drift_; empty if it was not measured

  const SymbolData* indexed_ = nullptr;
  std::unordered_map<std::string_view, std::size_t> places_;  // rows by stamp
  std::map<std::string, Closes> closes_;                      // by symbol
  // for the set v1, by symbol: a text with the first bar now and in training, if these differ
  std::map<std::string, std::string> begins_;
  bool begin_unknown_ = false;  // whether the first bar in training is unknown for some window
  bool uses_volume_ = false;    // whether a model with the set v1 uses the volume
  Drift drift_;                 // the largest of all windows
  // numbers of predictions; turned_: those that are now on the other side of 0.5
  std::size_t compared_ = 0, differ_ = 0, turned_ = 0;
  double largest_ = 0, sum_ = 0;  // largest difference and sum of differences
};

}  // namespace lockstep::gbdt
