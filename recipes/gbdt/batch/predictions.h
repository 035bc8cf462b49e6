// Combines the predictions of several windows in one table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "recipes/gbdt/batch/records.h"

namespace lockstep::gbdt {

// The predictions of one window.
struct Predictions {
  const WindowRecord* window = nullptr;
  std::vector<std::string> columns, lines;  // lines: lines of CSV without line ends
};

// The lines of a CSV text, without empty ones. A line may contain line breaks in quotes.
std::vector<std::string> csv_lines(std::string_view text);

// A CSV text that has every column of any window, in the order in which columns first appear, and a
// column for each setting of the batch. A cell is empty if the window lacks the column.
std::string all_predictions(const BatchRecords& records,
                            const std::vector<Predictions>& predictions);

}  // namespace lockstep::gbdt
