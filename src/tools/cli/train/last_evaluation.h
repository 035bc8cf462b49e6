// Shows the results of a run's newest evaluation as text for the terminal. The run may come from a
// stranger, so no symbolic link in it is followed.
#pragma once

#include "core/media/csv_table.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace lockstep::cli {

// Returns the first rows of the evaluation's table of items, and the paths of the table and the
// pictures. Returns "" if there is neither a table nor a picture. Numbers are shortened. Never
// throws; unreadable parts are left out.
std::string last_evaluation_text(const std::filesystem::path& run_dir, std::size_t rows = 8);

// Returns the table as text under its name, with at most 300 rows.
std::string named_table_text(const std::string& name, const CsvTable& table);
// Returns the other tables of the evaluation at `step`, besides the table of items, in the form of
// named_table_text. Never throws; reports an unreadable table on standard error.
std::string step_tables_text(const std::filesystem::path& run_dir, std::int64_t step);

}  // namespace lockstep::cli
