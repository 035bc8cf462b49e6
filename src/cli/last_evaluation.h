// What a run's newest evaluation left for people, as text for the terminal. It may be a stranger's:
// no link in it is followed.
#pragma once

#include "media/csv_table.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace lockstep::cli {

// The first rows of its table of items, and where table and pictures are; "" where it left none.
// Numbers are shortened. Never throws: what cannot be read is left out.
std::string last_evaluation_text(const std::filesystem::path& run_dir, std::size_t rows = 8);

// A table under its name, as far as 300 rows.
std::string named_table_text(const std::string& name, const CsvTable& table);
// The other tables that the evaluation of a step left, each so. Never throws: where one cannot be
// read, a line on standard error says so.
std::string step_tables_text(const std::filesystem::path& run_dir, std::int64_t step);

}  // namespace lockstep::cli
