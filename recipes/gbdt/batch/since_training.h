// Reports changes in a file of prices since a model was trained on it, to users of the model.
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
// since training: the closes of labels.csv.gz, the predictions of predictions.csv and the first bar
// in metadata.json. Skips windows whose file is unchanged (by its hash), windows without computed
// features, and windows that are used on another symbol.
class SinceTraining {
 public:
  // rows: the rows of `data` that are used now. scores: [rows, outputs]. If files of the window do
  // not exist or cannot be read, nothing is compared with them.
  void add(const WindowRecord& record, const GbdtOptions& options, const SymbolData& data,
           std::span<const std::size_t> rows, std::span<const double> scores);

  // One sentence each, without a line break.
  std::vector<std::string> notes() const;

 private:
  struct Closes {
    std::size_t trained = 0, found = 0, changed = 0;  // bars
    // for changed closes: least and largest ratio of present to earlier close
    double low = 0, high = 0;
    std::vector<char> seen{};  // by row of the data: 1 found, 2 changed; windows share bars
  };

  // How features of the set v1 differ between two beginnings of a file.
  struct Drift {
    double vwap = 0, ema = 0;  // shares
    double obv = 0;            // volume
  };

  void index(const SymbolData& data);
  void measure_drift(const SymbolData& data, std::span<const std::size_t> rows);
  void compare_closes(const WindowRecord& record, const SymbolData& data);
  void compare_predictions(const WindowRecord& record, const Objective& objective,
                           std::span<const std::size_t> rows, std::span<const double> scores);
  std::vector<std::string> close_notes() const;
  std::string prediction_note() const;
  std::string begin_note() const;
  std::string drift_text() const;  // "; in a file that begins …"; "" if it was not measured

  const SymbolData* indexed_ = nullptr;
  std::unordered_map<std::string_view, std::size_t> places_;  // of its stamps
  std::map<std::string, Closes> closes_;                      // by symbol
  // for the set v1, by symbol: where its file begins, now and in training
  std::map<std::string, std::string> begins_;
  bool begin_unknown_ = false;                          // for some window with the set v1
  bool uses_volume_ = false;                            // for some model with the set v1
  Drift drift_;                                         // the largest
  std::size_t compared_ = 0, differ_ = 0, turned_ = 0;  // predictions; to the other side of 0.5
  double largest_ = 0, sum_ = 0;                        // differences
};

}  // namespace lockstep::gbdt
