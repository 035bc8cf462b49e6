// Reads and writes the files that are kept for a window.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/gbdt/bars/bars.h"
#include "recipes/gbdt/train/train_window.h"
#include "runtime/run/predictions/item_table.h"

namespace lockstep::gbdt {

// Both throw Error if the file cannot be written.
void write_text(const std::filesystem::path& file, std::string_view text);
void write_gzip(const std::filesystem::path& file, std::string_view text);
// Returns the text that write_gzip wrote. Throws Error if the file is not a whole gzip file, or if
// its text exceeds 1 GiB.
std::string read_gzip(const std::filesystem::path& file);

// Returns the options for metadata.json. The option run.root is left out, because a job does not
// know where runs lie. of_batch: "key=value …", the whole numbers that were given to the job's
// batch but not to the job. These numbers replace the job's values.
nlohmann::json recorded_options(const GbdtOptions& options, const std::string& of_batch);

// Returns the text of labels.csv. Without prices, the cells of close and forward_return are empty.
std::string labels_csv(const SymbolData& data, const WindowRows& rows);
std::string importance_csv(const std::vector<std::string>& names, std::span<const double> splits,
                           std::span<const double> gains);

// Returns the columns of predictions.csv: timestamp (or row, without a time), symbol, window, group
// (if there are groups) and label. The columns of the model's predictions follow. For a binary
// objective, there is probability. For a multiclass objective, there are prediction, and
// probability_CLASS for each class. For a regression, there is prediction. For a ranking, there is
// score.
std::vector<std::string> prediction_columns(const Objective& objective, const SymbolData& data);
// Returns a line of predictions.csv for each of these rows. scores: [rows, outputs]. The cell of a
// missing label is empty.
std::string prediction_lines(const Objective& objective, const SymbolData& data,
                             const std::string& window_label, const std::vector<std::size_t>& rows,
                             std::span<const double> scores);
// Returns the names of columns as a line.
std::string header_line(const std::vector<std::string>& columns);

}  // namespace lockstep::gbdt
