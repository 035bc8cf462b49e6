// Reads and writes the files that the training of a window leaves, and makes their texts.
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

// Both functions replace the file by one with the text; write_gzip compresses it. They throw Error
// if the file cannot be written.
void write_text(const std::filesystem::path& file, std::string_view text);
void write_gzip(const std::filesystem::path& file, std::string_view text);
// Returns the text that write_gzip wrote. Throws Error if the file is not a whole gzip file, or if
// its text exceeds 1 GiB.
std::string read_gzip(const std::filesystem::path& file);

// Returns the options for metadata.json. The option run.root is left out, because a job does not
// know where runs lie. of_batch: "key=value …", the integer options that were given to the batch
// but not to its job. These values replace the job's values.
nlohmann::json recorded_options(const GbdtOptions& options, const std::string& of_batch);

// Returns the text of labels.csv. If no prices were read, the cells of close and forward_return are
// empty.
std::string labels_csv(const SymbolData& data, const WindowRows& rows);
std::string importance_csv(const std::vector<std::string>& names, std::span<const double> splits,
                           std::span<const double> gains);

// Returns the names of the columns of predictions.csv: timestamp (row if there is no time), symbol,
// window, group (if there are groups) and label. The columns of the model's predictions follow. A
// binary objective has the column probability. A multiclass objective has prediction, and
// probability_CLASS for each class. A regression has the column prediction, and a ranking has
// score.
std::vector<std::string> prediction_columns(const Objective& objective, const SymbolData& data);
// Returns a line of predictions.csv for each row in `rows`. scores: [rows, outputs], by
// Model::predict. The cell of a missing label is empty.
std::string prediction_lines(const Objective& objective, const SymbolData& data,
                             const std::string& window_label, const std::vector<std::size_t>& rows,
                             std::span<const double> scores);
// Returns the names of columns as a line of CSV.
std::string header_line(const std::vector<std::string>& columns);

}  // namespace lockstep::gbdt
