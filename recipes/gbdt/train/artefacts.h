// The files that are kept for a window.
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

// All throw Error if the file cannot be written.
void write_text(const std::filesystem::path& file, std::string_view text);
void write_gzip(const std::filesystem::path& file, std::string_view text);
// Returns the text that write_gzip wrote. Throws Error if the file is no gzip file, or its text
// exceeds 1 GiB.
std::string read_gzip(const std::filesystem::path& file);

// The options in metadata.json. They do not include where runs lie: a job does not know it, since
// its folder is its own. of_batch: "key=value …" with whole numbers that were given to the job's
// batch, but not to the job.
nlohmann::json recorded_options(const GbdtOptions& options, const std::string& of_batch);

// Without prices, the cells of close and forward_return are empty.
std::string labels_csv(const SymbolData& data, const WindowRows& rows);
std::string importance_csv(const std::vector<std::string>& names, std::span<const double> splits,
                           std::span<const double> gains);

// "timestamp,symbol,window,label", followed by the model's predictions: probability; prediction and
// probability_CLASS for each class; prediction; or score. Also the group of a row, if there are
// groups. "row" replaces a missing timestamp.
std::vector<std::string> prediction_columns(const Objective& objective, const SymbolData& data);
// A line for each of these rows. scores: [rows, outputs]. Without a label, its cell is empty.
std::string prediction_lines(const Objective& objective, const SymbolData& data,
                             const std::string& window_label, const std::vector<std::size_t>& rows,
                             std::span<const double> scores);
// Column names as a line.
std::string header_line(const std::vector<std::string>& columns);

}  // namespace lockstep::gbdt
