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
  std::vector<std::string> columns, lines;  // lines: CSV without line ends
};

// Returns the rows of a CSV text as lines, without empty lines. A line may contain line breaks
// within quotation marks.
std::vector<std::string> csv_lines(std::string_view text);

// Returns a CSV text with the predictions of all windows. It has all columns that any window has,
// in the order in which they first appear. It also has a column for each option in
// BatchRecords::keys. A cell is empty if its window lacks the column.
std::string all_predictions(const BatchRecords& records,
                            const std::vector<Predictions>& predictions);

}  // namespace lockstep::gbdt
