// Reports to users of a trained model how the file of prices has changed since training.
#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "recipes/gbdt/batch/records.h"
#include "recipes/gbdt/train/train_window.h"

namespace lockstep::gbdt {

// For each window, compares present prices and predictions with those that its folder has from
// training. These are the closes in labels.csv.gz, the predictions in predictions.csv, and the time
// of the first bar in metadata.json. A window is skipped if its data are unchanged (by their hash)
// or generated, or if it is applied to another symbol. It is also skipped if it has no computed
// features, no time, or groups.
class SinceTraining {
 public:
  // Compares one window. rows: the rows of `data` to which the model is applied now. scores: its
  // predictions [rows, outputs]. If a file of the window does not exist or cannot be read, nothing
  // is compared with it.
  void add(const WindowRecord& record, const GbdtOptions& options, const SymbolData& data,
           std::span<const std::size_t> rows, std::span<const double> scores);

  // Returns a note for each difference that was found, without a line break.
  std::vector<std::string> notes() const;

 private:
  struct Closes {
    // Numbers of bars. trained: with a close in labels.csv.gz. found: those of them that are in the
    // file now. changed: found bars whose close has changed.
    std::size_t trained = 0, found = 0, changed = 0;
    // for changed closes: smallest and largest ratio of the present close to the close in training
    double low = 0, high = 0;
    std::vector<char> seen{};  // by row of SymbolData: 1 found, 2 changed
  };

  // How far features of FeatureSet::v1 would differ if the file began later.
  struct Drift {
    double vwap = 0, ema = 0;  // relative differences
    double obv = 0;            // absolute difference, in units of volume
  };

  void index(const SymbolData& data);
  void measure_drift(const SymbolData& data, std::span<const std::size_t> rows);
  void compare_closes(const WindowRecord& record, const SymbolData& data);
  void compare_predictions(const WindowRecord& record, const Objective& objective,
                           std::span<const std::size_t> rows, std::span<const double> scores);
  std::vector<std::string> close_notes() const;
  std::string prediction_note() const;
  std::string begin_note() const;
  std::string drift_text() const;  // describes drift_; empty if it was not measured

  const SymbolData* indexed_ = nullptr;
  std::unordered_map<std::string_view, std::size_t> places_;  // rows by stamp
  std::map<std::string, Closes> closes_;                      // by symbol
  // for FeatureSet::v1, by symbol: times of the first bar now and in training, if these differ
  std::map<std::string, std::string> begins_;
  bool begin_unknown_ = false;  // whether some window's first bar in training is unknown
  bool uses_volume_ = false;    // whether a model of FeatureSet::v1 uses the volume
  Drift drift_;                 // the largest values of all windows
  // Numbers of predictions. compared_: compared with training. differ_: those of them that differ.
  // turned_: those that are now on the other side of 0.5.
  std::size_t compared_ = 0, differ_ = 0, turned_ = 0;
  double largest_ = 0, sum_ = 0;  // largest difference of predictions; sum of differences
};

}  // namespace lockstep::gbdt
