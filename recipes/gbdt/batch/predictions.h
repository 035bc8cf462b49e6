// Predictions of several windows as one table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "recipes/gbdt/batch/records.h"

namespace lockstep::gbdt {

// The predictions of one window.
struct Predictions {
  const WindowRecord* window = nullptr;
  std::vector<std::string> columns, lines;  // lines: of CSV, without their ends
};

// The lines of a text of CSV, without empty ones. A line may hold line breaks in quotes.
std::vector<std::string> csv_lines(std::string_view text);

// A text of CSV with the columns of any of them, in the order in which they come first, and a
// column for each setting of the batch. A cell is empty if the window does not have the column.
std::string all_predictions(const BatchRecords& records,
                            const std::vector<Predictions>& predictions);

}  // namespace lockstep::gbdt
